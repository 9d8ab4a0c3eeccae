#loc1 = loc("a")
module {}

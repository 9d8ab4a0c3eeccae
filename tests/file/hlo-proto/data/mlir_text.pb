// a comment
module @m {
}

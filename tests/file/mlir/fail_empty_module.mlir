// RUN: hlo-opt --emit=none %s
module {
}

// RUN: hlo-opt --emit=none %s
func.func main() {
  return
}

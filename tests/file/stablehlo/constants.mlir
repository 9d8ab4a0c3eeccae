// Constants as MLIR prints them.
// RUN: hlo-opt --emit=stablehlo %s
func.func @main() -> (tensor<7xf32>, tensor<5xf64>, tensor<3xbf16>, tensor<2x2xi1>, tensor<2xcomplex<f32>>, tensor<0x3xf32>, tensor<4xf16>, tensor<2xui8>, tensor<101xi16>) {
  %0 = stablehlo.constant dense<[0.9, 1.0e-05, 0.666666686, 1.17549435E-38, 0x7F800000, -0.0, 16777216.0]> : tensor<7xf32>
  %1 = stablehlo.constant dense<[16777217.0, 0.1, 1.0e300, 123456.0, 0x7FF8000000000000]> : tensor<5xf64>
  %2 = stablehlo.constant dense<[1.0078125, 3.0, 0.001953125]> : tensor<3xbf16>
  %3 = stablehlo.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1>
  %4 = stablehlo.constant dense<[(1.0, 2.0), (0.5, -1.0)]> : tensor<2xcomplex<f32>>
  %5 = stablehlo.constant dense<> : tensor<0x3xf32>
  %6 = stablehlo.constant dense<2.5> : tensor<4xf16>
  %7 = stablehlo.constant dense<[255, 0]> : tensor<2xui8>
  %8 = stablehlo.constant dense<"0x00000100020003000400050006000700080009000A000B000C000D000E000F0010001100120013001400150016001700180019001A001B001C001D001E001F0020002100220023002400250026002700280029002A002B002C002D002E002F0030003100320033003400350036003700380039003A003B003C003D003E003F0040004100420043004400450046004700480049004A004B004C004D004E004F0050005100520053005400550056005700580059005A005B005C005D005E005F0060006100620063006400"> : tensor<101xi16>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<7xf32>, tensor<5xf64>, tensor<3xbf16>, tensor<2x2xi1>, tensor<2xcomplex<f32>>, tensor<0x3xf32>, tensor<4xf16>, tensor<2xui8>, tensor<101xi16>
}

#pragma once

namespace capstan {

// Elementary functions that return the same bits on every machine. They use only additions, multiplications and
// divisions, whose rounding IEEE 754 defines, and the build forbids the compiler to fuse a multiplication with an
// addition. The functions of the C library differ in the last bit between processors. On the given ranges, the relative
// error of the logarithm and of the exponential is below 4e-15; the relative error of a power x^y is below 4e-16 * (1 +
// |y log x|).
double portable_log(double x);            ///< natural logarithm; x > 0, normal
double portable_exp(double x);            ///< e to the power of x; |x| <= 700
double portable_pow(double x, double y);  ///< x to the power of y; x > 0, |y log x| <= 700
double portable_sin_turns(double turns);  ///< sine of `turns` full circles; absolute error below 1e-15

}  // namespace capstan

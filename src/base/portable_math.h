#pragma once

namespace capstan {

/// Elementary functions from additions, multiplications and divisions alone, which IEEE 754 rounds in one way only.
/// The C library picks other instructions on other processors and its last bit differs; these return the same bits
/// everywhere (the build forbids contraction). On the ranges given, the relative error of the logarithm and of the
/// exponential is below 4e-15; that of a power grows with its size and is below 4e-16 * (1 + |y log x|).
double portable_log(double x);            ///< natural logarithm; x > 0, normal
double portable_exp(double x);            ///< |x| <= 700
double portable_pow(double x, double y);  ///< x > 0, |y log x| <= 700
double portable_sin_turns(double turns);  ///< sine of `turns` full circles; absolute error below 1e-15

}  // namespace capstan

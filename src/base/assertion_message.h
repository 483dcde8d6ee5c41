#pragma once

namespace capstan {

/// Sets a function that is called before the message of a broken invariant is printed, so that a command that draws on
/// the terminal can restore it first. Null removes the function.
void set_assertion_hook(void (*function)());

}  // namespace capstan

# The build under sanitizers, with the fuzz targets (clang 19). tests/fuzz adds its own main to each target.
#
# Four checks are off, because together they take a quarter of the build time. Address sanitizer finds a read through a
# null pointer or past the end of an object. `alignment` and `vptr` find only wrong casts of pointers.
add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=null,alignment,vptr,object-size
                    -fno-sanitize-recover=all -fno-omit-frame-pointer)
add_link_options(-fsanitize=address,undefined)

# The coverage of the rooms guides the fuzzer. These rooms have no counters: no fuzz target enters them, except
# fuzz_snapshot, which decides from a snapshot (`fleet`, `decide`).
set(rooms_without_fuzz_target fleet decide explain control bound sim actuate operator top)

# These tests are skipped here, because simulations are four times as slow under sanitizers. The dev build runs them,
# and shorter tests run the same code under sanitizers.
string(JOIN ":" long_experiment_tests Why.FiguresOf* OwnPolicyRuns.* PastWorlds.* Clairvoyance.*
       ConstantFleetSearch.FindsTheSame*)
string(JOIN ":" long_plan_tests SearchFleets.* RaisedLimits.TheNamed* RaisedLimits.TheLimit* RaisedLimits.SaysThat*
       PlanConstantFleet.IsTheSmallest*)

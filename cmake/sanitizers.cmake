# The build under sanitizers, with the fuzz targets (clang 19). tests/fuzz adds its own main to each target.
#
# Four checks are left out, because they take a quarter of the time of the build. Address sanitizer finds null pointers
# and too small objects when they are read. Alignment and the type of objects (vptr) matter only for casts of pointers.
add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=null,alignment,vptr,object-size
                    -fno-sanitize-recover=all -fno-omit-frame-pointer)
add_link_options(-fsanitize=address,undefined)

# The coverage of the rooms guides the fuzzer. No fuzz target enters these, so they need no counters.
set(rooms_without_fuzz_target fleet decide explain control bound sim actuate operator top)

# These tests are skipped here, because simulations are four times as slow under sanitizers. The dev build runs them,
# and shorter tests run the same code under sanitizers.
string(JOIN ":" long_experiment_tests Why.FiguresOf* OwnPolicyRuns.* PastWorlds.* Clairvoyance.*
       ConstantFleetSearch.FindsTheSame*)
set(long_plan_tests SearchFleets.*)

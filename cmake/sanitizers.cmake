# The build under sanitizers, with the fuzz targets (clang 19). tests/fuzz adds its own main to each target.
#
# Left out, because they take a quarter of the time of the build: null pointers, which address sanitizer finds when they
# are read, and alignment and type checks, which matter for casts of pointers alone.
add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=null,alignment,vptr,object-size
                    -fno-sanitize-recover=all -fno-omit-frame-pointer)
add_link_options(-fsanitize=address,undefined)

# The coverage of the rooms guides the fuzzer. No fuzz target enters these, so they need no counters.
set(rooms_without_fuzz_target fleet decide explain control bound sim actuate operator top)

# Simulations are four times as slow under sanitizers. The dev build runs these tests, too, and shorter tests run the same
# code.
string(JOIN ":" long_experiment_tests Why.FiguresOf* OwnPolicyRuns.* PastWorlds.* Clairvoyance.*
       ConstantFleetSearch.FindsTheSame*)
set(long_plan_tests SearchFleets.*)

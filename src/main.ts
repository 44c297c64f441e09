import { runProgram } from "./cli/program.ts";
import { endWithLauncher } from "./runtime/launcher.ts";

endWithLauncher();
process.exit(await runProgram(process.argv.slice(2)));

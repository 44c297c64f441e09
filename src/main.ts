import { runProgram } from "./cli/program.ts";

process.exit(await runProgram(process.argv.slice(2)));

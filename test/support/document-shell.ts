import { dirname } from "node:path";
import { compiledProgram } from "./compiled-program.ts";

/** Makes `./dist/svc` of the documents run the program of this checkout from its sources. */
export const inCheckout = (script: string): string =>
  script.replaceAll("./dist/svc", compiledProgram.join(" "));

/** The environment of an example: this Bun first in the path, no settings from outside. */
export function exampleEnv(home: string, env: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: home, ...env };
}

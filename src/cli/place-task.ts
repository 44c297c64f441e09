import type { Command } from "commander";
import { PLACE_TASK } from "../setup/doctor/place-task.ts";
import { print } from "./output.ts";

/** `place-task`: the process of `askPlace`; not for people. */
export function registerPlaceTask(program: Command): void {
  program
    .command(PLACE_TASK, { hidden: true })
    .description("find out about the file system of a directory, for `doctor` and `init`")
    .argument("<dir>")
    .action(async (dir: string) => {
      const { placeOf } = await import("../setup/doctor/place.ts");
      print(JSON.stringify(await placeOf(dir)));
    });
}

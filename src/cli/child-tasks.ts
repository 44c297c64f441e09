import type { Command } from "commander";
import type { DatabaseTask, DatabaseTaskResult } from "../node/snapshot/database-task.ts";
import { PLACE_TASK } from "./doctor/place.ts";
import { print } from "./output.ts";

/** Copying gives way to the node that serves from the same disk and cores. */
const LOW_PRIORITY = 10;

/** `database-task`: the process of `copyDatabase` and `checkDatabase`; not meant for users. */
export function registerDatabaseTask(program: Command): void {
  program
    .command("database-task", { hidden: true })
    .description("copy or check a database file, for `snapshot` and `backup`")
    .argument("<task>", "JSON")
    .action(async (json: string) => {
      const { setPriority } = await import("node:os");
      const { runDatabaseTask } = await import("../node/snapshot/run-database-task.ts");
      try {
        setPriority(LOW_PRIORITY);
      } catch {
        // The unit forbids it (SystemCallFilter=~@resources). The task then runs with the node's priority.
      }
      const result: DatabaseTaskResult = runDatabaseTask(JSON.parse(json) as DatabaseTask);
      print(`${JSON.stringify(result)}\n`);
    });
}

/** `place-task`: the process of `askPlace`; not meant for users. */
export function registerPlaceTask(program: Command): void {
  program
    .command(PLACE_TASK, { hidden: true })
    .description("find out about the file system of a directory, for `doctor` and `init`")
    .argument("<dir>")
    .action(async (dir: string) => {
      const { placeOf } = await import("./doctor/place.ts");
      print(JSON.stringify(await placeOf(dir)));
    });
}

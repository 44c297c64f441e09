import { type Command, InvalidArgumentError } from "commander";
import { print } from "./output.ts";

/** `demo keys`: prints the keys of users of the demo network, for examples and experiments. */
export function registerDemo(program: Command): void {
  const demo = program.command("demo").description("inspect the demo network");
  demo
    .command("keys")
    .description("print the custody and signer keys of an fid of the demo network; they are public")
    .requiredOption("--fid <n>", "the fid", parseFid)
    .option("--custody", "print the custody key alone, as --key-file of other commands takes it")
    .action(async ({ fid, custody = false }: { fid: number; custody?: boolean }) => {
      const { demoKeys } = await import("../demo/keys.ts");
      const { UserError } = await import("../lib/failure.ts");
      const keys = demoKeys(fid);
      if (!keys) throw new UserError(`the demo network has no fid ${fid}`);
      print(`${custody ? keys.custody.privateKey : JSON.stringify(keys, null, 2)}\n`);
    });
}

function parseFid(text: string): number {
  const fid = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(fid)) throw new InvalidArgumentError("It is a positive integer.");
  return fid;
}

import type { Command } from "commander";
import { EXIT_OK, EXIT_USER } from "../../lib/failure.ts";
import { printable } from "../../lib/text.ts";
import type { CommandContext } from "../context.ts";
import { print, printError } from "../output.ts";

const DEFAULT_PORT = 9300;
const HOSTED_API = "https://api.neynar.com";

interface PlayOptions {
  readonly url?: string;
  readonly keyFile?: string;
  readonly json?: boolean;
}

/** `replay-app`: records what an app reads from the hosted API, and compares this node's responses. */
export function registerReplayApp(program: Command, context: CommandContext): void {
  const replay = program
    .command("replay-app")
    .description("record an app's calls to the hosted API and compare what a node responds to its reads");
  replay
    .command("record")
    .description(
      `forward the calls of an app (to --port, or ${DEFAULT_PORT}, of this machine) and record its reads`,
    )
    .argument("<file>", "a new file for the calls")
    .option("--upstream <url>", "where the calls go", HOSTED_API)
    .action(async (file: string, { upstream }: { readonly upstream: string }) => {
      const { createCommon, runService } = await import("../common.ts");
      const { nodeUrl } = await import("../client/node-url.ts");
      const { startRecorder } = await import("./record.ts");
      const { createRecording } = await import("./recording.ts");
      const common = createCommon(context, { reader: "client" });
      const target = nodeUrl(upstream);
      const add = createRecording(file);
      let calls = 0;
      let isFull = false;
      context.exitCode = await runService(common, async () => {
        const recorder = startRecorder({
          port: context.flags().port === undefined ? DEFAULT_PORT : common.config.http.port,
          upstream: target,
          report(call) {
            if (isFull) return;
            isFull = !add(call);
            if (isFull) printError(`${file} is full: calls are forwarded and no longer recorded\n`);
            else calls += 1;
          },
        });
        common.shutdown.add("recorder", async () => {
          await recorder.stop();
          print(`${calls} calls recorded in ${printable(file)}\n`);
        });
        print(`Set the base URL of the app to ${recorder.url}; calls go to ${target.origin}\n`);
      });
    });
  replay
    .command("play")
    .description(
      "play the recorded reads against a node and print each field that differs; exit 1 if one is missing",
    )
    .argument("<file>", "a recording")
    .option(
      "--url <url>",
      "base URL of the node (default: that of the data directory, else the address in the settings)",
    )
    .option("--key-file <file>", "file with an API key, for a node without anonymous reads")
    .option("--json", "print a JSON object")
    .action(async (file: string, { url, keyFile, json = false }: PlayOptions) => {
      const { readConfig } = await import("../common.ts");
      const { nodeUrl, ownNodeUrl } = await import("../client/node-url.ts");
      const { exchange } = await import("../client/client.ts");
      const { readApiKey } = await import("../client/key-files.ts");
      const { parseJson } = await import("../../lib/json.ts");
      const { playCalls, replayText } = await import("./play.ts");
      const { readRecording } = await import("./recording.ts");
      const base = nodeUrl(url ?? ownNodeUrl(readConfig(context, "client")));
      const headers = new Headers(keyFile === undefined ? [] : [["x-api-key", readApiKey(keyFile)]]);
      const replayed = await playCalls(readRecording(file), async (path, query) => {
        const target = new URL(base);
        target.pathname = `${base.pathname.replace(/\/+$/, "")}${path}`;
        target.search = query;
        const { status, text } = await exchange(target, { headers });
        return { status, body: parseJson(text) };
      });
      print(json ? `${JSON.stringify(replayed, null, 2)}\n` : replayText(replayed));
      context.exitCode = replayed.ok ? EXIT_OK : EXIT_USER;
    });
}

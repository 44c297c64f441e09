import { setTimeout as sleep } from "node:timers/promises";
import { type Command, InvalidArgumentError } from "commander";
import { printableLines } from "../../lib/text.ts";
import type { UrlGuard } from "../../net/guard.ts";
import type { TokenState } from "../../node/state/token-state.ts";
import type { Common } from "../../runtime/common.ts";
import { parseFid } from "../client/options.ts";
import type { CommandContext } from "../context.ts";
import { print } from "../output.ts";

interface ImportOptions {
  readonly appId: string;
  readonly apiKeyFile?: string;
  readonly clientFid: ReadonlyMap<string, number>;
  readonly dryRun?: boolean;
}

const MAX_KEY_FILE_BYTES = 4096;
const PROGRESS_EVERY_MS = 5000;

/** `tokens import|export`: moves an app's notification tokens from or to another service. */
export function registerTokens(program: Command, context: CommandContext): void {
  const tokens = program.command("tokens").description("import and export notification tokens");

  tokens
    .command("import")
    .description(
      "import a list of tokens into an app; repeating it changes nothing. A node with its state in state.db must be stopped",
    )
    .argument("<source>", "file of JSON pages or lines, or the URL of a paged list")
    .requiredOption("--app-id <id>", "app of this node to import into")
    .option("--api-key-file <file>", "file with the API key for the URL; - for standard input")
    .option(
      "--client-fid <host=fid>",
      "fid of the client app whose notification URLs have this host; may be repeated",
      collectClientFid,
      new Map<string, number>(),
    )
    .option("--dry-run", "report the changes without making them")
    .action(async (source: string, { appId, apiKeyFile, clientFid, dryRun = false }: ImportOptions) => {
      const { createConfiguredGuard } = await import("../../net/configured-client.ts");
      const { interfaceAddresses } = await import("../../net/guard.ts");
      const { createCachedResolve } = await import("../../net/resolve.ts");
      const { importTokens } = await import("../../push/tokens/transfer/import-tokens.ts");
      await onState(context, appId, async (state, common) => {
        const { config, clock, log, shutdown } = common;
        // Read only once, because a list may have millions of URLs.
        const own = interfaceAddresses();
        const guard = createConfiguredGuard(config.net, {
          resolve: createCachedResolve(),
          ownAddresses: () => own,
        });
        using into = state.openImport({ dryRun });
        let shownAtMs = clock.nowMs();
        const report = await importTokens({
          appId,
          tokens: await openSource(source, apiKeyFile, guard, shutdown.signal),
          into,
          guard,
          clientFids: clientFid,
          clock,
          signal: shutdown.signal,
          onProgress(count) {
            if (clock.nowMs() - shownAtMs < PROGRESS_EVERY_MS) return;
            shownAtMs = clock.nowMs();
            log.info({ tokens: count }, "Importing tokens");
          },
        });
        const lines = dryRun ? [...report.lines(), "Nothing was changed (--dry-run)"] : report.lines();
        print(`${lines.join("\n")}\n`);
      });
    });

  tokens
    .command("export")
    .description("print the tokens of an app as a list. A node with its state in state.db must be stopped")
    .requiredOption("--app-id <id>", "app of this node")
    .action(async ({ appId }: { appId: string }) => {
      const { exportTokens } = await import("../../push/tokens/transfer/token-file.ts");
      await onState(context, appId, async (state, { shutdown }) => {
        const output = Bun.stdout.writer();
        for await (const part of exportTokens(state.tokens, appId)) {
          shutdown.signal.throwIfAborted();
          output.write(printableLines(part));
          // Waits for a slow reader, so that the list does not accumulate in memory.
          await output.flush();
        }
        await output.end();
      });
    });
}

/** Runs `work` on the state with an app. The data directory is locked unless the state is in PostgreSQL. */
async function onState(
  context: CommandContext,
  appId: string,
  work: (state: TokenState, common: Common) => Promise<void>,
): Promise<void> {
  const { createCommon, openTaskDataDir, runTask } = await import("../common.ts");
  const { openPostgresTokens, openSqliteTokens } = await import("../../node/state/token-state.ts");
  const { postgresSettings } = await import("../../node/state/postgres/postgres-settings.ts");
  const { nowSecs } = await import("../../runtime/clock.ts");
  const { UserError } = await import("../../lib/failure.ts");
  const common = createCommon(context);
  const { config } = common;

  async function open(): Promise<TokenState> {
    const settings = postgresSettings(config);
    if (settings) return openPostgresTokens(settings, common);
    const dataDir = openTaskDataDir(common);
    return openSqliteTokens(dataDir.path);
  }

  context.exitCode = await runTask(common, async () => {
    await using state = await open();
    const app = await state.apps.find(appId, nowSecs(common.clock));
    const place = config.state.url === "" ? config.data.dir : "the state in PostgreSQL";
    if (!app) throw new UserError(`no app ${JSON.stringify(appId)} in ${place}`);
    await work(state, common);
  });
}

async function openSource(
  source: string,
  apiKeyFile: string | undefined,
  guard: UrlGuard,
  signal: AbortSignal,
): Promise<AsyncIterable<unknown>> {
  const { UserError } = await import("../../lib/failure.ts");
  if (!/^https?:\/\//i.test(source)) {
    if (apiKeyFile !== undefined) throw new UserError("--api-key-file is for a URL");
    const { tokensOfFile } = await import("../../push/tokens/transfer/token-file.ts");
    return tokensOfFile(source);
  }
  if (apiKeyFile === undefined) throw new UserError("a URL needs --api-key-file");
  if (!URL.canParse(source)) throw new UserError(`${JSON.stringify(source)} is not a URL`);
  const { createOutboundClient } = await import("../../net/client.ts");
  const { tokensOfPages } = await import("../../push/tokens/transfer/token-pages.ts");
  const { readInput } = await import("../input.ts");
  const apiKey = new TextDecoder().decode(await readInput(apiKeyFile, MAX_KEY_FILE_BYTES)).trim();
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new UserError(`${apiKeyFile} has no API key`);
  const client = createOutboundClient({ guard });
  const wait = (ms: number) => sleep(ms, undefined, { signal });
  return tokensOfPages({ client, url: source, apiKey, signal, wait });
}

function collectClientFid(text: string, before: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const [, host = "", fid = ""] = /^([^\s/=]+)=(\d+)$/.exec(text) ?? [];
  if (host === "") throw new InvalidArgumentError("It is a host and an fid, such as api.farcaster.xyz=9152.");
  return new Map([...before, [host.toLowerCase(), parseFid(fid)]]);
}

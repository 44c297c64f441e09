import type { Command } from "commander";
import type { LoadedConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { hostOfUrl, upstreamUrls } from "../config/upstream-urls.ts";
import type { SetUp, SetUpStep, SetUpWish } from "../console/setup/set-up.ts";
import { loadOnce } from "../lib/promises.ts";
import type { StartWithout } from "../node/console/started-settings.ts";
import { requireDescriptors } from "../runtime/process.ts";
import type { CommandContext } from "./context.ts";
import type { SetUpDeps } from "./init/set-up.ts";
import { print } from "./output.ts";

interface ServeOptions {
  readonly demo?: boolean;
  readonly newState?: boolean;
  readonly migrate?: boolean;
  readonly acceptLoad?: boolean;
}

/** `serve`: runs the whole node. */
export function registerServe(program: Command, context: CommandContext): void {
  program
    .command("serve")
    .description("run the node")
    .option("--demo", "fill an empty data directory with a small signed network first")
    .option("--new-state", "start with an empty state.db although the index has data: the old state is lost")
    .option("--migrate", "migrate an index of an older format first, as `svc migrate` does")
    .option(
      "--accept-load",
      "fill an index of the whole network from the public nodes of upstream.urls, whose operators agreed",
    )
    .action(async ({ demo = false, newState = false, migrate = false, acceptLoad = false }: ServeOptions) => {
      const { createCommon, readConfigAsWritten, runService } = await import("./common.ts");
      const { serve } = await import("../node/serve.ts");
      const { processInput } = await import("../config/load.ts");
      const { serviceNames } = await import("../config/names.ts");
      const { CONSOLE_SOURCE, withConsoleText } = await import("../config/files/console-file.ts");
      const { indexPath } = await import("../db/index/database.ts");
      const { dropOldIndex } = await import("../db/index/upgrade/replace-file.ts");
      const { EXIT_OK, EXIT_RETRYABLE } = await import("../lib/failure.ts");
      const { keepWithout, noteStarted, startWithout, startWithoutInvalid } = await import(
        "../node/console/started-settings.ts"
      );
      const { RecentLines } = await import("../runtime/log/recent-lines.ts");
      let isDemoWanted = demo;
      let indexDir = "";
      let hasServed = false;
      /** The failure with the settings of the operator's page, while a start without their last changes is attempted. */
      let failed:
        | { readonly fault: unknown; readonly path: string; readonly without: StartWithout }
        | undefined;
      // After its set-up, or for changed settings, a node restarts in this process.
      for (let isStartedAgain = true; isStartedAgain; ) {
        isStartedAgain = false;
        const given = processInput(context.flags());
        const input = failed ? withConsoleText(given, failed.path, failed.without.text) : given;
        let read: LoadedConfig;
        try {
          read = readConfigAsWritten(context, input);
        } catch (fault) {
          const without = failed ? undefined : startWithoutInvalid(fault, given);
          if (without === undefined) throw failed ? failed.fault : fault;
          failed = { fault, path: without.path, without };
          isStartedAgain = true;
          continue;
        }
        const loaded = acceptLoad ? { ...read, config: acceptingLoad(read.config) } : read;
        const lines = new RecentLines();
        const keepLine = (line: string) => lines.add("main", line);
        const common = createCommon(context, { isNode: true, keepLine, loaded });
        const startAgain = (reason: string) => {
          // To a supervisor, a stop is the end of the process, which it restarts after a failure.
          const isSupervised = process.env.NOTIFY_SOCKET !== undefined;
          isStartedAgain = !isSupervised;
          void common.shutdown.start(reason, isSupervised ? EXIT_RETRYABLE : EXIT_OK);
        };
        const setUp = lazySetUp({
          loaded,
          given,
          onApplied({ isDemo }) {
            isDemoWanted = isDemo;
            startAgain("the node was set up");
          },
        });
        const settingFiles = { loaded, given, startAgain, refused: failed?.without.refused };
        const sources = loaded.sources;
        const running = runService(common, async () => {
          const options = { demo: isDemoWanted, newState, migrate, settingSources: loaded.places, lines };
          requireDescriptors();
          const served = await serve(common, { ...options, setUp, settingFiles });
          const { consoleFile } = loaded;
          try {
            if (failed) keepWithout(failed.path, failed.without);
            if (consoleFile !== undefined) noteStarted(consoleFile);
          } catch (err) {
            // For example because the disk is full: the node runs, and the next start finds out again.
            common.log.warn({ err }, "The settings of this start could not be recorded");
          }
          if (failed) {
            const { keys, reason, file } = failed.without.refused;
            common.log.error(
              { settings: keys, reason, movedTo: file },
              "The node runs without the last changes of the operator's page: it did not start with them",
            );
            failed = undefined;
          }
          hasServed = true;
          if (common.shutdown.signal.aborted) return;
          const { service, console: pages, log } = common.config;
          if (!served.isSetUp) common.log.warn(notSetUpText(service.ready_when_empty));
          const { basePath } = serviceNames(service.name);
          const places = { ...served, basePath, hasConsole: pages.enabled };
          // A terminal has a human reader, unless the operator has chosen JSON.
          const isChosen = sources.get("log.format") !== "default";
          const isJson = log.format === "json" && (isChosen || process.stdout.isTTY !== true);
          print(isJson ? placesJson(places) : placesText(places));
        });
        try {
          context.exitCode = await running;
        } catch (fault) {
          const path = loaded.consoleFile;
          const without = failed ? undefined : startWithout(path, fault);
          if (without === undefined || path === undefined) {
            const changed = [...sources].flatMap(([key, source]) => (source === CONSOLE_SOURCE ? [key] : []));
            if (changed.length > 0)
              common.log.warn(
                { file: path, settings: changed },
                "The operator's page has changed settings: if one of them prevents the start, remove its line from the file",
              );
            throw failed ? failed.fault : fault;
          }
          failed = { fault, path, without };
          isStartedAgain = true;
          const { keys, reason } = without.refused;
          common.log.warn(
            { settings: keys, reason },
            "The start failed: the node tries the settings of the last one",
          );
          continue;
        }
        indexDir = common.config.data.dir;
        if (context.exitCode !== EXIT_OK) isStartedAgain = false;
      }
      // The node has run with the migrated index, so the older file is no longer needed.
      if (hasServed && context.exitCode === EXIT_OK) dropOldIndex(indexPath(indexDir));
    });
}

/** The parts of `init` and `doctor` are loaded by the first step, which most starts never run. */
function lazySetUp(deps: SetUpDeps): SetUp {
  const load = loadOnce(async () => (await import("./init/set-up.ts")).createSetUp(deps));
  const step = (name: SetUpStep) => async (wish: SetUpWish) => (await load())[name](wish);
  return { test: step("test"), estimate: step("estimate"), check: step("check"), apply: step("apply") };
}

/** Says why every response of a new node is empty. */
function notSetUpText(isReady: boolean): string {
  const effect = isReady ? "its lists are empty" : "/ready is 503";
  return `The node has no data and follows no node, so ${effect}: stop it, and run \`svc init\` to choose the users that it serves, or \`svc serve --demo\` for a demo network`;
}

/** Returns the settings with all followed nodes allowed as sources for filling the index. */
function acceptingLoad(config: Config): Config {
  const bulkFrom = upstreamUrls(config).map(hostOfUrl);
  return { ...config, upstream: { ...config.upstream, bulk_from: bulkFrom } };
}

interface Places {
  readonly httpUrl: string;
  readonly hubAddress: string | undefined;
  readonly isDemo: boolean;
  readonly basePath: string;
  readonly hasConsole: boolean;
  readonly setUpCode: string | undefined;
}

/** One line, like everything that a node writes with `log.format = json`. */
function placesJson({ httpUrl, hubAddress, basePath, hasConsole }: Places): string {
  const places = {
    console: hasConsole ? `${httpUrl}/` : null,
    api: `${httpUrl}${basePath}`,
    docs: `${httpUrl}/docs`,
    grpc: hubAddress ?? null,
  };
  return `${JSON.stringify(places)}\n`;
}

function placesText({ httpUrl, hubAddress, isDemo, basePath, hasConsole, setUpCode }: Places): string {
  const lines = [
    ...(hasConsole ? [`Console  ${httpUrl}/`] : []),
    `API      ${httpUrl}${basePath}`,
    `Docs     ${httpUrl}/docs`,
    `gRPC     ${hubAddress ?? "off"}`,
  ];
  if (setUpCode !== undefined)
    lines.push(`Set up   ${httpUrl}/console/setup#code=${setUpCode}  (15 minutes, once)`);
  if (isDemo) lines.push(`Try      curl '${httpUrl}${basePath}/user?fid=3'`);
  return `${lines.join("\n")}\n`;
}

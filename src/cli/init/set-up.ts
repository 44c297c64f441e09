import { accessSync, constants, existsSync, lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  CONSOLE_FILE,
  consoleText,
  consoleValues,
  readConsoleText,
} from "../../config/files/console-file.ts";
import { followedFids } from "../../config/files/fid-file.ts";
import { readSmallFile } from "../../config/files/small-file.ts";
import type { ConfigInput } from "../../config/layers.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import type { SetUp, SetUpResult, SetUpWish } from "../../console/setup/set-up.ts";
import { importAtNextStart } from "../../import/next-import.ts";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { resolveBySystem } from "../../net/resolve.ts";
import { systemClock } from "../../runtime/clock.ts";
import { programName } from "../../version.ts";
import { estimateImport } from "../database/records/estimate-text.ts";
import { examine } from "../doctor/examine.ts";
import { kernelClock } from "../doctor/machine.ts";
import { askPlace, freeLines } from "../doctor/place.ts";
import type { Asked } from "./ask-upstream.ts";
import type { Choice, Wanted } from "./choice.ts";
import { ask, costText, SETTINGS_FILE, testUpstreams } from "./run-init.ts";
import { planFiles, sectionIn } from "./settings-text.ts";
import { checkFiles, type NewFile, refuseExisting, writeFiles } from "./write-files.ts";

export interface SetUpDeps {
  /** The settings with which the node runs. */
  readonly loaded: LoadedConfig;
  /** The flags and the environment of the node, with which it will read the written settings. */
  readonly given?: Pick<ConfigInput, "argvFlags" | "env">;
  /** Where a settings file is searched for. Default: the working directory of the process. */
  readonly cwd?: string;
  /** Called once the settings are written, or a demo network is wanted: the node restarts. */
  readonly onApplied: (next: { readonly isDemo: boolean }) => void;
}

type Files = readonly NewFile[];

/** Sets up a running node with the parts of `init` and `doctor`. Nothing is written before `apply`. */
export function createSetUp({ loaded, given, cwd = "", onApplied }: SetUpDeps): SetUp {
  const { config, file } = loaded;
  const dataDir = resolve(config.data.dir);
  const output = file ?? resolve(cwd, SETTINGS_FILE);
  const consoleFile = resolve(dataDir, CONSOLE_FILE);
  /** The text of the settings file when its change was shown. */
  let shown: string | undefined;
  /** The result of the last estimate, so that the followed node is not asked again. */
  let known: { readonly wish: string; readonly asked: Asked } | undefined;

  const wantedOf = (wish: SetUpWish): Wanted => {
    const { urls, settings = {} } = wish;
    const [upstreamUrl = "", ...furtherUrls] = urls;
    const choice = choiceOf(wish);
    if (follows(wish) && upstreamUrl === "") throw new UserError("name the node to follow");
    const set = [
      `http.host=${config.http.host}`,
      `http.port=${config.http.port}`,
      ...Object.entries(settings).map(([key, value]) => `${key}=${value}`),
    ];
    return { choice, upstreamUrl, furtherUrls, output, dataDir, isPublic: false, set };
  };

  const askedOf = async (wish: SetUpWish, wanted: Wanted): Promise<Asked> => {
    const key = JSON.stringify(wish);
    if (known?.wish !== key)
      known = { wish: key, asked: await ask(wanted, { output, estimate: true, json: true }) };
    return known.asked;
  };

  /**
   * Returns a complete new settings file, or the one that the node has read with more sections; undefined if there is nothing to write.
   */
  const filesOf = async (wish: SetUpWish): Promise<Files> => {
    const sections = sectionsOf(wish);
    if (sections.length === 0) return [];
    const wanted = wantedOf(wish);
    const isAsked = wish.scope.kind === "channel" || wish.scope.kind === "followers";
    const asked = isAsked ? await askedOf(wish, wanted) : NOTHING;
    const [settings, ...others] = planFiles(wanted, asked, new Date());
    const reason = whyNotWritten(sections);
    if (reason !== undefined) return [inDataDir([settings, ...others], sections)];
    const before = file === undefined ? undefined : readSmallFile(file);
    if (before === undefined) return [settings, ...others];
    const lines = sections.map((name) => sectionIn(settings.text, name)).join("\n");
    return [{ path: output, text: `${before.replace(/\n*$/, "\n\n")}${lines}` }, ...others];
  };

  /** Returns the sections in the file of the operator's page, which cannot refer to other files. */
  const inDataDir = ([settings, ...others]: Files, sections: readonly string[]): NewFile => {
    const planned = consoleValues(settings?.text);
    const { "upstream.fid_file": fidFile, ...values } = Object.fromEntries(
      Object.entries(planned).filter(([key]) => sections.includes(key.replace(/\..*/, ""))),
    );
    const list = others.find(({ path }) => path === fidFile);
    const readFile = () => list?.text;
    const fids = list && followedFids({ fids: [], fid_file: list.path }, { readFile, cwd });
    const text = consoleText({
      ...consoleValues(readConsoleText(consoleFile)),
      ...values,
      ...(fids ? { "upstream.fids": [...fids] } : fidFile !== undefined && { "upstream.fid_file": fidFile }),
    });
    return { path: consoleFile, text, isSecret: true };
  };

  /** Returns why the settings file cannot be extended; undefined if it can. */
  const whyNotWritten = (sections: readonly string[]): string | undefined => {
    const before = file === undefined ? undefined : readSmallFile(file);
    const there = before === undefined ? {} : Bun.TOML.parse(before);
    const double = sections.find((name) => name in there);
    if (double !== undefined) return `${output} has a section [${double}] already`;
    try {
      if (before === undefined) refuseExisting([output]);
    } catch (cause) {
      return reasonOf(cause).replace(/;.*/, "");
    }
    try {
      accessSync(dirname(output), constants.W_OK);
      if (existsSync(output)) accessSync(output, constants.W_OK);
      return undefined;
    } catch (cause) {
      return `the node may not write ${output}: ${reasonOf(cause)}`;
    }
  };

  const planOf = async (wish: SetUpWish): Promise<SetUpResult & { files: Files }> => {
    const files = await filesOf(wish);
    // The new lines refer to these files; their existing content would be another choice.
    const inTheWay = files.slice(1).find(({ path }) => lstatSync(path, { throwIfNoEntry: false }));
    if (inTheWay) throw new UserError(`${inTheWay.path} already exists: move it away, and check again`);
    const isFallback = files[0]?.path === consoleFile;
    if (files.length > 0) checkFiles(files, given, isFallback ? (file ?? "") : output);
    const why = isFallback ? whyNotWritten(sectionsOf(wish)) : undefined;
    return { files, ...(why !== undefined && { note: why }) };
  };

  return {
    test: async (wish) => ({ findings: await testUpstreams(wantedOf(wish)) }),
    async estimate(wish) {
      const { scope } = wish;
      if (scope.kind === "import") return { cost: await importCostText(scope.path, config) };
      const wanted = wantedOf(wish);
      const asked = scope.kind === "demo" ? NOTHING : await askedOf(wish, wanted);
      return { cost: await costText(wanted, asked) };
    },
    async check(wish) {
      const { scope } = wish;
      const looked = examine({
        ...loaded,
        config: { ...config, upstream: { ...config.upstream, urls: wish.urls.slice() } },
        clock: systemClock,
        kernelClock,
        resolve: resolveBySystem,
        askPlace,
        askReady: async () => "the node is up and waits to be set up",
      });
      if (scope.kind === "demo") return { findings: await looked };
      // Finds out whether it can be read before anything is written.
      const cost = scope.kind === "import" ? await importCostText(scope.path, config) : undefined;
      const plan = await planOf(wish);
      shown = plan.files[0]?.text;
      return { findings: await looked, ...(cost !== undefined && { cost }), ...plan };
    },
    async apply(wish) {
      const { scope } = wish;
      if (scope.kind === "demo") {
        if (process.env.NOTIFY_SOCKET !== undefined)
          throw new UserError(`a unit serves no demo network: run \`${programName} serve --demo\``);
        onApplied({ isDemo: true });
        return {};
      }
      const filesAsShown = async () => {
        const { files } = await planOf(wish);
        if (files[0]?.text !== shown)
          throw new UserError("the settings changed since they were shown: check again");
        return files;
      };
      await filesAsShown();
      if (follows(wish)) await refuseUnusable(wantedOf(wish));
      // Without its import file, a node would not start.
      if (scope.kind === "import") await importCostText(scope.path, config);
      // Read again, because both took some time.
      const files = await filesAsShown();
      writeFiles(files, dataDir);
      if (scope.kind === "import") importAtNextStart(dataDir, scope.path);
      onApplied({ isDemo: false });
      return { files };
    },
  };
}

/** The name of a check of a followed node; with several nodes it contains the position. */
const FOLLOWED_NODE = /^followed node( \d+)?$/;

/**
 * Refuses upstreams of which a check failed: once a node has an upstream it is set up, and this page no longer offers to change it.
 *
 * @throws UserError if a check of a followed node failed.
 */
async function refuseUnusable(wanted: Wanted): Promise<void> {
  const unusable = (await testUpstreams(wanted)).find(
    ({ check, level }) => level === "fail" && FOLLOWED_NODE.test(check),
  );
  if (unusable) throw new UserError(unusable.text);
}

const follows = ({ scope }: SetUpWish) => scope.kind !== "demo" && scope.kind !== "import";

/** An import serves everything in the file, so there is no choice of fids. */
function choiceOf({ scope }: SetUpWish): Choice {
  return scope.kind === "import" ? { kind: "all" } : scope;
}

/** Returns the sections that a wish adds to a settings file. */
const sectionsOf = (wish: SetUpWish): string[] => [
  ...new Set([
    ...(follows(wish) ? ["upstream"] : []),
    ...Object.keys(wish.settings ?? {}).map((key) => key.replace(/\..*/, "")),
  ]),
];

/** Returns what the import costs, and the available space. @throws UserError for a file without records. */
async function importCostText(path: string, config: Pick<Config, "protocol" | "data">): Promise<string> {
  const { estimate, text } = await estimateImport(path, config);
  if (estimate.messages + estimate.fids === 0)
    throw new UserError(`${path} has no records of Farcaster that can be read`);
  const free = await freeLines(config.data.dir, estimate.bytesWhileFilling);
  return `${text}${free.map((line) => `${line}\n`).join("")}`;
}

const NOTHING: Asked = { resolved: undefined, estimate: undefined };

import { accessSync, constants, existsSync, lstatSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readSmallFile } from "../../config/files/small-file.ts";
import type { ConfigInput } from "../../config/layers.ts";
import type { LoadedConfig } from "../../config/load.ts";
import type { SetUp, SetUpResult, SetUpWish } from "../../console/setup/set-up.ts";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { resolveBySystem } from "../../net/resolve.ts";
import { systemClock } from "../../runtime/clock.ts";
import { programName } from "../../version.ts";
import { examine } from "../doctor/examine.ts";
import { kernelClock } from "../doctor/machine.ts";
import { askPlace } from "../doctor/place.ts";
import type { Asked } from "./ask-upstream.ts";
import type { Wanted } from "./choice.ts";
import { ask, costText, SETTINGS_FILE, testUpstreams } from "./run-init.ts";
import { planFiles, sectionIn } from "./settings-text.ts";
import { checkFiles, type NewFile, refuseExisting, writeFiles } from "./write-files.ts";

export interface SetUpDeps {
  /** The settings that the node runs with. */
  readonly loaded: LoadedConfig;
  /** The flags and the environment of the node, with which it will read what is written. */
  readonly given?: Pick<ConfigInput, "argvFlags" | "env">;
  /** Where a settings file is found. Default: the working directory of the process. */
  readonly cwd?: string;
  /** Called once the settings are written, or a demo network is wanted: the node starts again. */
  readonly onApplied: (next: { readonly isDemo: boolean }) => void;
}

/** Sets a running node up by the parts of `init` and `doctor`. Nothing is written before `apply`. */
export function createSetUp({ loaded, given, cwd = "", onApplied }: SetUpDeps): SetUp {
  const { config, file } = loaded;
  const output = file ?? resolve(cwd, SETTINGS_FILE);
  /** The settings file as its change was shown. */
  let shown: string | undefined;
  /** What the last estimate asked the followed node for is not asked again. */
  let known: { readonly wish: string; readonly asked: Asked } | undefined;

  const wantedOf = ({ scope, urls, settings = {} }: SetUpWish): Wanted => {
    const [upstreamUrl = "", ...furtherUrls] = urls;
    if (scope.kind !== "demo" && upstreamUrl === "") throw new UserError("name the node to follow");
    const set = [
      `http.host=${config.http.host}`,
      `http.port=${config.http.port}`,
      ...Object.entries(settings).map(([key, value]) => `${key}=${value}`),
    ];
    const choice = scope.kind === "demo" ? { kind: scope.kind } : scope;
    return {
      choice: choice as Wanted["choice"],
      upstreamUrl,
      furtherUrls,
      output,
      dataDir: resolve(config.data.dir),
      isPublic: false,
      set,
    };
  };

  const askedOf = async (wish: SetUpWish, wanted: Wanted): Promise<Asked> => {
    const key = JSON.stringify(wish);
    if (known?.wish !== key)
      known = { wish: key, asked: await ask(wanted, { output, estimate: true, json: true }) };
    return known.asked;
  };

  /** The files to write: the whole of a new settings file, or the one that the node has read with a section more. */
  const filesOf = async (wish: SetUpWish) => {
    const wanted = wantedOf(wish);
    const isAsked = wish.scope.kind === "channel" || wish.scope.kind === "followers";
    const [settings, ...others] = planFiles(
      wanted,
      isAsked ? await askedOf(wish, wanted) : NOTHING,
      new Date(),
    );
    const lines = sectionsOf(wish)
      .map((name) => sectionIn(settings.text, name))
      .join("\n");
    const before = file === undefined ? undefined : readSmallFile(file);
    const text = before === undefined ? settings.text : `${before.replace(/\n*$/, "\n\n")}${lines}`;
    return { files: [{ path: output, text }, ...others], lines };
  };

  /** Why the files cannot be written; undefined where they can. */
  const problemOf = (wish: SetUpWish): string | undefined => {
    const before = file === undefined ? undefined : readSmallFile(file);
    const there = before === undefined ? {} : Bun.TOML.parse(before);
    const double = sectionsOf(wish).find((name) => name in there);
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

  const planOf = async (wish: SetUpWish): Promise<SetUpResult & { files: readonly NewFile[] }> => {
    const { files, lines } = await filesOf(wish);
    // The lines name these files: with what is in them now, they would be another choice.
    const inTheWay = files.slice(1).find(({ path }) => lstatSync(path, { throwIfNoEntry: false }));
    if (inTheWay) throw new UserError(`${inTheWay.path} exists already: move it away, and check again`);
    const message = problemOf(wish);
    if (message === undefined) checkFiles(files, given);
    if (message === undefined) return { files };
    return {
      files,
      problem: { message: `${message}. Put these lines into it, and restart the node`, lines },
    };
  };

  return {
    test: async (wish) => ({ findings: await testUpstreams(wantedOf(wish)) }),
    async estimate(wish) {
      const wanted = wantedOf(wish);
      const asked = wish.scope.kind === "demo" ? NOTHING : await askedOf(wish, wanted);
      return { cost: await costText(wanted, asked) };
    },
    async check(wish) {
      const looked = examine({
        ...loaded,
        config: { ...config, upstream: { ...config.upstream, urls: wish.urls.slice() } },
        clock: systemClock,
        kernelClock,
        resolve: resolveBySystem,
        askPlace,
        askReady: async () => "the node is up and waits to be set up",
      });
      if (wish.scope.kind === "demo") return { findings: await looked };
      const plan = await planOf(wish);
      shown = plan.files[0]?.text;
      return { findings: await looked, ...plan };
    },
    async apply(wish) {
      if (wish.scope.kind === "demo") {
        if (process.env.NOTIFY_SOCKET !== undefined)
          throw new UserError(`a unit serves no demo network: run ${programName} serve --demo`);
        onApplied({ isDemo: true });
        return {};
      }
      const { files, problem } = await planOf(wish);
      if (problem) throw new UserError(`${problem.message}:\n${problem.lines}`);
      if (files[0]?.text !== shown)
        throw new UserError("the settings changed since they were shown: check again");
      writeFiles(files, resolve(config.data.dir));
      onApplied({ isDemo: false });
      return { files };
    },
  };
}

/** The sections that a wish adds to a settings file. */
const sectionsOf = ({ settings = {} }: SetUpWish): string[] => [
  ...new Set(["upstream", ...Object.keys(settings).map((key) => key.replace(/\..*/, ""))]),
];

const NOTHING: Asked = { resolved: undefined, estimate: undefined };

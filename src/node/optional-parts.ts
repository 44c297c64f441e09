import type { Config } from "../config/schema.ts";
import { leftOut } from "../version.ts";

/** A part that can be left out of a build, with `bun run build --without <part>,…`. */
interface OptionalPart {
  /**
   * The modules through which the core uses it, relative to `src`. Without the part, their exports are undefined and those of operations
   * are empty lists.
   */
  readonly entries: readonly string[];
  /** Its threads, which are entry points of the program. */
  readonly threads?: readonly string[];
  /** Other parts that do not work without it. */
  readonly neededBy?: readonly string[];
  /** Turns its settings off, so that nothing calls its entries. In a program without the part, these settings have no effect. */
  readonly turnOff?: (config: Config) => Config;
}

/** The core is reads, signed management, push and webhooks over SQLite. These are the other parts. */
export const OPTIONAL_PARTS = {
  console: {
    entries: [
      "node/compose/console.ts",
      "node/compose/demo.ts",
      "node/console/console-node.ts",
      "console/load-build.ts",
    ],
    // Users approve signers on its page.
    neededBy: ["writes"],
    // People sign in on a page of its build.
    turnOff: (config) => ({
      ...config,
      console: { ...config.console, enabled: false },
      web_signin: { ...config.web_signin, enabled: false },
    }),
  },
  hub: {
    entries: ["node/compose/hub/hub-reads.ts", "hub/events/subscribers.ts", "hub/reads/block-relay.ts"],
    turnOff: (config) => ({ ...config, hub: { ...config.hub, reads: false } }),
  },
  stream: {
    entries: ["node/compose/sending/streams.ts", "api/operations/stream/stream.ts"],
    turnOff: (config) => ({ ...config, stream: { ...config.stream, enabled: false } }),
  },
  writes: {
    entries: [
      "api/operations/writes/casts.ts",
      "api/operations/writes/links.ts",
      "api/operations/writes/messages.ts",
      "api/operations/writes/own-writes.ts",
      "api/operations/preview.ts",
      "api/operations/writes/profile.ts",
      "api/operations/writes/reactions.ts",
      "api/operations/signers/lookups.ts",
      "api/operations/signers/managed-signers.ts",
      "api/operations/signers/signers-by-key.ts",
    ],
    threads: ["writes"],
    turnOff: (config) => ({
      ...config,
      writes: { ...config.writes, enabled: false },
      signers: { ...config.signers, enabled: false },
    }),
  },
  mcp: {
    entries: ["node/compose/mcp.ts", "cli/client/mcp.ts"],
    turnOff: (config) => ({ ...config, mcp: { ...config.mcp, enabled: false } }),
  },
  scores: {
    entries: ["node/threads/score-runs.ts", "cli/database/scores.ts", "api/operations/users/score.ts"],
    threads: ["score"],
    turnOff: (config) => ({ ...config, scores: { ...config.scores, mode: "off" } }),
  },
  previews: {
    entries: ["node/compose/previews.ts"],
    threads: ["previews"],
    turnOff: (config) => ({ ...config, previews: { ...config.previews, mode: "off" } }),
  },
  traces: {
    entries: ["runtime/trace/export-traces.ts"],
    turnOff: (config) => ({ ...config, trace: { ...config.trace, endpoint: "" } }),
  },
  compat: {
    entries: ["api/compat-plugin.ts"],
    turnOff: (config) => ({ ...config, service: { ...config.service, compat_prefixes: [] } }),
  },
  // A `state.url` is refused, because owners' records would otherwise be in the wrong place.
  postgres: {
    entries: [
      "node/state/postgres/join-postgres.ts",
      "node/state/postgres/open-postgres.ts",
      "node/state-copy/copy-to-postgres.ts",
      "db/postgres/migrate.ts",
      "db/postgres/pools.ts",
      "db/postgres/state-db.ts",
      "cluster/postgres/node-rows.ts",
    ],
  },
} as const satisfies Readonly<Record<string, OptionalPart>>;

export type OptionalPartName = keyof typeof OPTIONAL_PARTS;

/** Reports whether this program was built with a part. */
export function isBuilt(part: OptionalPartName): boolean {
  return !leftOut.includes(part);
}

/** Turns off the settings of the parts that this build leaves out. */
export function ofBuiltParts(config: Config): Config {
  const parts: readonly (readonly [string, OptionalPart])[] = Object.entries(OPTIONAL_PARTS);
  return parts.reduce(
    (left, [name, { turnOff }]) => (leftOut.includes(name) && turnOff ? turnOff(left) : left),
    config,
  );
}

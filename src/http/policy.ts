/** Rules for every request under one path, also for paths without a route. */
export interface RoutePolicy {
  /** A larger request body is rejected with 413. */
  readonly maxBodyBytes: number;
  /** True for paths of the API, whose routes may declare that their responses are cached. */
  readonly isApi: boolean;
  /** The JSON body of an error. */
  readonly errorBody: (message: string) => Readonly<Record<string, unknown>>;
}

interface PolicyRow extends Partial<RoutePolicy> {
  readonly path: string;
}

const kib = 1024;

const messageOnly = (message: string) => ({ message });

/** Paths relative to a prefix of the API; a row applies to its path and everything below. */
const apiRows: readonly PolicyRow[] = [
  { path: "/frame/app", maxBodyBytes: 32 * kib },
  {
    path: "/frame/webhook",
    maxBodyBytes: 64 * kib,
    errorBody: (message) => ({ success: false, message }),
  },
  { path: "/frame/notifications", maxBodyBytes: 1024 * kib },
  { path: "/webhook", maxBodyBytes: 256 * kib },
  { path: "/batch", maxBodyBytes: 256 * kib },
];

const apiDefault: RoutePolicy = {
  maxBodyBytes: 64 * kib,
  isApi: true,
  errorBody: messageOnly,
};
const opsDefault: RoutePolicy = { ...apiDefault, isApi: false };

/**
 * Creates the lookup of the policy of a canonical path. Policies are the same under every prefix of the API. The
 * lookup returns one of a few shared objects and allocates nothing.
 */
export function createPolicyLookup(basePaths: readonly string[]): (path: string) => RoutePolicy {
  const policies = apiRows.map((row) => ({ ...apiDefault, ...row, below: `${row.path}/` }));
  const prefixes = basePaths.map((basePath) => `${basePath}/`);

  return (path) => {
    for (const prefix of prefixes) {
      if (!path.startsWith(prefix)) continue;
      const within = path.slice(prefix.length - 1);
      return policies.find((row) => within === row.path || within.startsWith(row.below)) ?? apiDefault;
    }
    return opsDefault;
  };
}

/** What holds for every route under one path, also for paths under it that no route answers. */
export interface RoutePolicy {
  /** A larger request body is refused with 413. */
  readonly maxBodyBytes: number;
  /** `revalidate`: a GET carries a weak ETag and may be kept. `no-store`: nothing on the way may keep the answer. */
  readonly cache: "revalidate" | "no-store";
  /**
   * The answer to a GET follows from its URL, the index and the second alone: the same question has the same answer until
   * one of them changes.
   */
  readonly isRepeatable: boolean;
  /** The JSON body of an error. */
  readonly errorBody: (message: string) => Readonly<Record<string, unknown>>;
}

interface PolicyRow extends Partial<RoutePolicy> {
  readonly path: string;
}

const kib = 1024;

const messageOnly = (message: string) => ({ message });

/** Paths within a prefix of the API; a row holds for its path and everything below. */
const apiRows: readonly PolicyRow[] = [
  { path: "/frame/app", maxBodyBytes: 32 * kib, cache: "no-store" },
  {
    path: "/frame/webhook",
    maxBodyBytes: 64 * kib,
    cache: "no-store",
    errorBody: (message) => ({ success: false, message }),
  },
  { path: "/frame/notifications", maxBodyBytes: 1024 * kib, cache: "no-store" },
  { path: "/frame/notification_tokens", cache: "no-store" },
  { path: "/webhook", maxBodyBytes: 256 * kib, cache: "no-store" },
  { path: "/batch", maxBodyBytes: 256 * kib },
  // One dialect looks at a header there.
  { path: "/user/fid", isRepeatable: false },
];

const apiDefault: RoutePolicy = {
  maxBodyBytes: 64 * kib,
  cache: "revalidate",
  isRepeatable: true,
  errorBody: messageOnly,
};
const opsDefault: RoutePolicy = { ...apiDefault, cache: "no-store", isRepeatable: false };
const documentPolicy: RoutePolicy = { ...apiDefault, isRepeatable: false };

/**
 * Finds the policy of a canonical path, the same under every prefix of the API. The outcome is one of a few shared
 * objects, so asking is cheap.
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
    return path === "/openapi.json" ? documentPolicy : opsDefault;
  };
}

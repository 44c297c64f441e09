/** What the operator wants an empty node to be. */
export interface SetUpWish {
  readonly scope:
    | { readonly kind: "all" }
    | { readonly kind: "demo" }
    | { readonly kind: "fids"; readonly fids: readonly number[] }
    | { readonly kind: "channel"; readonly channel: string }
    | { readonly kind: "followers"; readonly fid: number }
    /** Fids in a file on the node's machine. */
    | { readonly kind: "file"; readonly path: string }
    /** Records in such a file, instead of a node to follow. */
    | { readonly kind: "import"; readonly path: string };
  /** The nodes to follow; empty for a demo network and an import. */
  readonly urls: readonly string[];
  /** Further settings by key, from `SET_UP_SETTINGS`; omitted ones keep their defaults. */
  readonly settings?: Readonly<Partial<Record<(typeof SET_UP_SETTINGS)[number], string>>>;
}

export const SET_UP_SETTINGS = ["service.public_url", "backup.dir", "backup.at"] as const;

export const SET_UP_STEPS = ["test", "estimate", "check", "apply"] as const;
export type SetUpStep = (typeof SET_UP_STEPS)[number];

/** A finding of `doctor`. */
export interface SetUpFinding {
  readonly check: string;
  readonly level: "ok" | "warn" | "fail";
  readonly text: string;
  readonly advice?: string;
}

/** The result of a step, which omits the parts that it does not have. */
export interface SetUpResult {
  readonly findings?: readonly SetUpFinding[];
  /** Lines for people about disk space, time and calls. */
  readonly cost?: string;
  /** The files that `apply` writes. */
  readonly files?: readonly { readonly path: string; readonly text: string }[];
  /** Why these are not the settings file, but the file of the operator's page in the data directory. */
  readonly note?: string;
}

/** The set-up of a node, from parts of `init` and `doctor`. Each step throws an error with a sentence for the operator. */
export type SetUp = Readonly<Record<SetUpStep, (wish: SetUpWish) => Promise<SetUpResult>>>;

/** The step that is running, or ran last. */
export interface SetUpState {
  /** Whether the node has no data yet, so that it can be set up. */
  readonly is_open: boolean;
  readonly step: SetUpStep | null;
  readonly is_running: boolean;
  readonly result: SetUpResult | null;
  readonly error: string | null;
}

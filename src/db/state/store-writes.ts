/** The writes of a store as they run inside a transaction of the writer: synchronous, with the same arguments and results. */
export type StoreWrites<Store, Method extends keyof Store> = {
  readonly [M in Method]: Store[M] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never;
};

/** One write on its way to the writer. All its values can be cloned between threads. */
export interface StateCall {
  /** A store of `StateStores`, or `sweeps`. */
  readonly store: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Sends a write to the writer; resolves with its result after the commit. */
export type CallWriter = (call: StateCall) => Promise<unknown>;

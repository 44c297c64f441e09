/** Methods of a store as they run inside a transaction of the writer: synchronous, with the same arguments and results. */
export type Decisions<Store, Method extends keyof Store> = {
  readonly [M in Method]: Store[M] extends (...args: infer Args) => Promise<infer Result>
    ? (...args: Args) => Result
    : never;
};

/** One write on its way to the writer: everything in it can be cloned between threads. */
export interface StateCall {
  /** A store of `StateStores`, or `sweeps`. */
  readonly store: string;
  readonly method: string;
  readonly args: readonly unknown[];
}

/** Hands a write to the writer; resolves with its result when it is committed. */
export type CallWriter = (call: StateCall) => Promise<unknown>;

import { status } from "@grpc/grpc-js";

/** The calls of a method since the start. */
export interface MethodStats {
  /** Ended calls by the name of their gRPC code. */
  readonly calls: Readonly<Record<string, number>>;
  /** The time of ended unary calls. A stream lasts as long as its client wants. */
  readonly seconds: number;
}

/** Counts the calls of the methods that the node defines, so their number is bounded. */
export class CallStats {
  readonly #methods = new Map<string, { readonly calls: Record<string, number>; seconds: number }>();

  ended(method: string, code: status, seconds: number): void {
    const counts = this.#methods.get(method) ?? { calls: {}, seconds: 0 };
    this.#methods.set(method, counts);
    const name = status[code] ?? "UNKNOWN";
    counts.calls[name] = (counts.calls[name] ?? 0) + 1;
    counts.seconds += seconds;
  }

  /** By method. */
  read(): Readonly<Record<string, MethodStats>> {
    return Object.fromEntries(this.#methods);
  }
}

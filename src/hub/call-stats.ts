import { status } from "@grpc/grpc-js";

/** The calls of a method since the start. */
export interface MethodStats {
  /** Ended calls by the name of their gRPC code. */
  readonly calls: Readonly<Record<string, number>>;
  /** The time of ended unary calls. A stream lasts as long as its client wants. */
  readonly seconds: number;
  /** Items of lists, and responses of streams. */
  readonly rows: number;
}

class MethodCounts {
  readonly calls: Record<string, number> = {};
  seconds = 0;
  rows = 0;
}

/** Counts the calls of the methods that the node defines, so their number is bounded. */
export class CallStats {
  readonly #methods = new Map<string, MethodCounts>();

  ended(method: string, code: status, seconds: number): void {
    const counts = this.#countsOf(method);
    const name = status[code] ?? "UNKNOWN";
    counts.calls[name] = (counts.calls[name] ?? 0) + 1;
    counts.seconds += seconds;
  }

  sent(method: string, rows: number): void {
    this.#countsOf(method).rows += rows;
  }

  /** By method. */
  read(): Readonly<Record<string, MethodStats>> {
    return Object.fromEntries([...this.#methods].map(([method, counts]) => [method, { ...counts }]));
  }

  #countsOf(method: string): MethodCounts {
    let counts = this.#methods.get(method);
    if (!counts) {
      counts = new MethodCounts();
      this.#methods.set(method, counts);
    }
    return counts;
  }
}

import type { MessagePage, Verifier } from "../../ingest/bulk/verify/verifier.ts";
import type { RelayedOp } from "../../ingest/relayed-op.ts";
import type { EmitOps } from "../blocks/op-batcher.ts";
import type { RelayRules } from "../blocks/validate-relayed.ts";

/** Dependencies for verifying the pages of an fid. */
interface PageVerificationDeps {
  readonly verifier: Verifier;
  readonly rules: Pick<RelayRules, "scope" | "onRefused">;
  /** Accepts the messages of a verified page. Resolves when there is room for more. */
  readonly emit: EmitOps;
}

/** Pages of one fid that are verified while its next pages are being read. */
const MAX_PAGES = 2;

/**
 * Verifies the pages of one fid while the next ones are being read, and emits the operations that store the valid messages.
 * The messages of an fid's state have one slot each, so pages may be emitted in any order.
 */
export class PageVerifications implements AsyncDisposable {
  readonly #deps: PageVerificationDeps;
  readonly #running = new Set<Promise<void>>();

  constructor(deps: PageVerificationDeps) {
    this.#deps = deps;
  }

  /** Starts the verification of a page. Resolves when the next page may be read. Rejects if an earlier page failed. */
  async add(page: MessagePage): Promise<void> {
    const running = this.#verify(page).then(() => void this.#running.delete(running));
    running.catch(() => {});
    this.#running.add(running);
    while (this.#running.size >= MAX_PAGES) await Promise.race(this.#running);
  }

  /** Resolves when the operations of all pages are emitted. */
  async done(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Waits for all pages, even after a failure, so that nothing is emitted once the fid is read again. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #verify(page: MessagePage): Promise<void> {
    const { verifier, rules, emit } = this.#deps;
    const parts = await verifier.verifyPage(page);
    for (const refusal of parts.flatMap(({ refusals }) => refusals)) rules.onRefused(refusal);
    const mentioned = rules.scope.addMentioned(parts.flatMap((part) => part.mentioned));
    const ops = parts.flatMap(({ messages }): RelayedOp[] =>
      messages.count > 0 ? [{ kind: "putAll", messages, happenedAt: 0 }] : [],
    );
    const packed = parts.flatMap((part) => (part.packed && part.packed.count > 0 ? [part.packed] : []));
    if (ops.length + packed.length > 0) await emit(ops, mentioned, packed);
  }
}

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Call } from "../data/call.ts";
import { owner } from "./owner.ts";

/** Something that only the custody address may do. */
export interface OwnerOperation {
  /** The name of the operation, as in the header of the request. */
  readonly op: string;
  readonly method: Call["method"];
  /** Path with query, of this origin: `/v2/svc/webhook`. */
  readonly path: string;
  readonly body?: unknown;
  /** What will happen, as sentences: the sheet says them before the wallet asks. */
  readonly words: string;
  /** More than sentences, below them. */
  readonly details?: ComponentChildren;
  /** The heading of the sheet. */
  readonly title?: string;
  /** A name that must be typed first, for what cannot be undone. */
  readonly typedName?: string;
  /** The arguments of the `svc` command that does the same, for custody elsewhere. */
  readonly cli?: string;
  /** What that command reads from its standard input, as JSON. */
  readonly cliInput?: unknown;
  /** Whether the page itself has said what will happen: the wallet asks at once. */
  readonly isConfirmed?: boolean;
}

/** The owner has not signed, or could not. Nothing was sent. The message is a sentence. */
export class OperationDeclined extends Error {
  override readonly name = "OperationDeclined";
}

/** An operation whose sheet is open. */
export interface PendingOperation {
  readonly operation: OwnerOperation;
  /** Of the owner who began it. */
  readonly fid: number;
  readonly resolve: (response: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

/** The operation whose sheet is open: one at a time. */
export const pendingOperation = signal<PendingOperation | undefined>(undefined);

/**
 * Says in a sheet what will happen, has the wallet sign it and makes the request. Resolves with the response.
 *
 * @throws OperationDeclined when nothing was sent, RequestFailure when the node refused.
 */
export function runOperation<T>(operation: OwnerOperation): Promise<T> {
  if (pendingOperation.peek())
    return Promise.reject(new OperationDeclined("Another confirmation is open. Nothing was sent."));
  const fid = owner.peek()?.fid;
  if (fid === undefined)
    return Promise.reject(new OperationDeclined("Connect a wallet first. Nothing was sent."));
  return new Promise<T>((resolve, reject) => {
    const end = () => {
      pendingOperation.value = undefined;
    };
    pendingOperation.value = {
      operation,
      fid,
      resolve(response) {
        end();
        resolve(response as T);
      },
      reject(cause) {
        end();
        reject(cause);
      },
    };
  });
}

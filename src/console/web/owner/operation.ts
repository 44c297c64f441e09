import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Call } from "../data/call.ts";
import * as msg from "../text/en/common.ts";
import { owner } from "./owner.ts";

/** A call of a signed operation. */
export type SignedCall<T = unknown> = Call<T> & { readonly op: string };

/** An operation that only the custody address may do. */
export interface OwnerOperation<T = unknown> extends SignedCall<T> {
  /** What will happen, as sentences in the sheet before the wallet asks. */
  readonly words: string;
  /** Additional content below the sentences. */
  readonly details?: ComponentChildren;
  /** Called with the response and awaited before its body is read. */
  readonly onResponse?: ((response: Response) => Promise<unknown>) | undefined;
  /** The heading of the sheet. */
  readonly title?: string;
  /** A name that must be typed first if the operation cannot be undone. */
  readonly typedName?: string;
  /** Whether the page itself has explained what will happen, so that the wallet asks at once. */
  readonly isConfirmed?: boolean;
}

/** The owner has not signed, or could not. Nothing was sent. The message is a sentence. */
export class OperationDeclined extends Error {
  override readonly name = "OperationDeclined";
}

/** An operation whose sheet is open. */
export interface PendingOperation {
  readonly operation: OwnerOperation;
  /** The owner who started it. */
  readonly fid: number;
  readonly resolve: (response: unknown) => void;
  readonly reject: (cause: unknown) => void;
}

/** The operation whose sheet is open; only one at a time. */
export const pendingOperation = signal<PendingOperation | undefined>(undefined);

/**
 * Explains in a sheet what will happen, lets the wallet sign it and makes the request. Resolves to the response.
 *
 * @throws OperationDeclined if nothing was sent, RequestFailure if the node refused.
 */
export function runOperation<T>(operation: OwnerOperation<T>): Promise<T> {
  if (pendingOperation.peek())
    return Promise.reject(new OperationDeclined(msg.anotherConfirmationIsOpenNothing));
  const fid = owner.peek()?.fid;
  if (fid === undefined) return Promise.reject(new OperationDeclined(msg.connectAWalletFirstNothingWas));
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

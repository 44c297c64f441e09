import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Call } from "../data/call.ts";
import * as msg from "../text/en/common.ts";
import { owner } from "./owner.ts";

/** A call of a signed operation. */
export type SignedCall<T = unknown> = Call<T> & { readonly op: string };

/** Something that only the custody address may do. */
export interface OwnerOperation<T = unknown> extends SignedCall<T> {
  /** What will happen, as sentences: the sheet says them before the wallet asks. */
  readonly words: string;
  /** More than sentences, below them. */
  readonly details?: ComponentChildren;
  /** Given the response before its body is read, which waits for it. */
  readonly onResponse?: ((response: Response) => Promise<unknown>) | undefined;
  /** The heading of the sheet. */
  readonly title?: string;
  /** A name that must be typed first, for what cannot be undone. */
  readonly typedName?: string;
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
  /** The owner who began it. */
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

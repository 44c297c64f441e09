/**
 * The state cannot be read or written, or it did not respond in time. A write may or may not have been committed, unless it
 * is known that it was not sent: the caller must not treat this as "not done".
 */
export class StateUnavailable extends Error {
  override name = "StateUnavailable";
  /** Whether the call may have been carried out. */
  readonly mayHaveHappened: boolean;
  /** Whether the disk took no writes. */
  readonly isStorageFault: boolean;

  constructor(
    message: string,
    options: ErrorOptions & { readonly mayHaveHappened?: boolean; readonly isStorageFault?: boolean } = {},
  ) {
    super(message, options);
    this.mayHaveHappened = options.mayHaveHappened ?? true;
    this.isStorageFault = options.isStorageFault ?? false;
  }
}

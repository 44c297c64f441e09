import type { OwnedRecord, OwnedStore } from "../management/owned-store.ts";

/** A mini app that may send notifications. */
export interface App extends OwnedRecord {
  /** 16 characters of base58. */
  readonly appId: string;
  readonly name: string;
  readonly appUrl: string;
  readonly description: string | null;
  /** Fids of the client apps whose token events are accepted; empty for all. */
  readonly signerFidAllowlist: readonly number[];
}

export type AppChanges = Partial<Pick<App, "name" | "appUrl" | "description" | "signerFidAllowlist">>;

/** The mini apps. */
export interface AppStore extends OwnedStore<App, AppChanges> {
  /** The app of an unexpired secret with this digest. The caller compares the secret itself. */
  findBySecret(digest: Uint8Array, nowSecs: number): Promise<App | undefined>;
}

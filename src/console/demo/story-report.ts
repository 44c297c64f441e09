/** A call of the story as the page shows it, without secrets. */
export interface StoryStep {
  readonly key: "session" | "app" | "people" | "send" | "delivery";
  readonly call: string;
  readonly body: object | null;
  readonly ms: number;
}

/** What the story has created. */
export interface Story {
  readonly fid: number;
  readonly address: string;
  /** Null if the page has no key. */
  readonly session: {
    readonly session_id: string;
    readonly access: "read" | "operate";
    readonly expires_at: number;
  } | null;
  readonly app_id: string;
  readonly campaign_id: string;
  readonly notified: number;
  /** Whether the receiver of the webhook has verified the signature. */
  readonly verified: boolean;
  /** In the order in which they were made. */
  readonly steps: readonly StoryStep[];
}

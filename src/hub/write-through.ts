import { type Client, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { Rejection } from "../protocol/rejection.ts";
import { encodeMessage, type SignedMessage, toWire } from "../protocol/signed-message.ts";
import {
  type BulkMessageResponse,
  HubServiceService,
  SubmitBulkMessagesRequest,
  SubmitBulkMessagesResponse,
} from "../protocol/wire/generated/hub.ts";
import type { Clock } from "../runtime/clock.ts";
import { relayedFault, shownText } from "./grpc-errors.ts";
import { acceptedInBulk, refusedInBulk } from "./messages-on-the-wire.ts";
import type { SubmissionCheck } from "./submission-check.ts";

export interface WriteThroughOptions {
  readonly client: Client;
  /** Basic credentials; both empty where the upstream asks for none. */
  readonly username: string;
  readonly password: string;
  readonly check: SubmissionCheck;
  readonly clock: Clock;
  /** Told, at most once a minute, that the upstream refuses this node's own credentials. */
  readonly onLoginRefused: () => void;
  /** What the upstream has to answer a call; the service's own when left out. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;
const LOGIN_REPORT_INTERVAL_MS = 60_000;

/**
 * Forwards messages to the upstream instead of merging them. What a message alone decides is checked here first; the rest
 * (admission, names on a chain, limits) is the upstream's to say. OK is its word that the message is queued there; the
 * message itself comes back over the feed that the node follows.
 */
export class WriteThrough {
  readonly #options: WriteThroughOptions;
  #loginReportedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: WriteThroughOptions) {
    this.#options = options;
  }

  /** Forwards one message; answers it as it was understood, or why it was refused, here or there. */
  submit(bytes: Uint8Array): Promise<SignedMessage | Rejection | ServiceError> {
    const { check } = this.#options;
    return check.hold([bytes], async () => {
      const message = check.check(bytes);
      if (message instanceof Rejection) return message;
      const answer = await this.#call(HubServiceService.submitMessage.path, encodeMessage(message));
      return answer instanceof Uint8Array ? message : answer;
    });
  }

  /**
   * Forwards what is valid in one call; answers in the order of the request, each message with its own result. The
   * upstream answers shard by shard, so results are matched by hash, and a message that comes twice is forwarded once.
   * Where the call fails as a whole, so does the request.
   */
  submitBulk(received: readonly Uint8Array[]): Promise<BulkMessageResponse[] | Rejection | ServiceError> {
    const { check } = this.#options;
    return check.hold(received, async () => {
      const checked = await check.checkAll(received);
      const valid = checked.filter((result): result is SignedMessage => !(result instanceof Rejection));
      const forwarded = new Map(valid.map((message) => [message.hash.toHex(), message]));
      let results = new Map<string, BulkMessageResponse>();
      if (forwarded.size > 0) {
        const messages = [...forwarded.values()].map(toWire);
        const request = SubmitBulkMessagesRequest.encode({ messages }).finish();
        const answer = await this.#call(HubServiceService.submitBulkMessages.path, request);
        if (!(answer instanceof Uint8Array)) return answer;
        results = resultsByHash(SubmitBulkMessagesResponse.decode(answer), forwarded);
      }
      return checked.map((result, at) =>
        result instanceof Rejection
          ? refusedInBulk(result, received[at])
          : (results.get(result.hash.toHex()) ?? refusedInBulk(UNANSWERED, received[at])),
      );
    });
  }

  #call(path: string, request: Uint8Array): Promise<Uint8Array | ServiceError> {
    const { promise, resolve } = Promise.withResolvers<Uint8Array | ServiceError>();
    const asBuffer = (bytes: Buffer) => bytes;
    this.#options.client.makeUnaryRequest(
      path,
      asBuffer,
      asBuffer,
      Buffer.from(request.buffer, request.byteOffset, request.byteLength),
      this.#login(),
      // gRPC counts deadlines by the machine's own clock.
      { deadline: new Date(Date.now() + (this.#options.timeoutMs ?? TIMEOUT_MS)) },
      (fault, answer = Buffer.alloc(0)) => {
        if (!fault) return resolve(answer);
        if (fault.code === status.UNAUTHENTICATED || fault.code === status.PERMISSION_DENIED)
          this.#reportLogin();
        resolve(relayedFault(fault));
      },
    );
    return promise;
  }

  #login(): Metadata {
    const { username, password } = this.#options;
    const metadata = new Metadata();
    if (username !== "") {
      const login = Buffer.from(`${username}:${password}`).toString("base64");
      metadata.set("authorization", `Basic ${login}`);
    }
    return metadata;
  }

  #reportLogin(): void {
    const nowMs = this.#options.clock.nowMs();
    if (nowMs - this.#loginReportedAtMs < LOGIN_REPORT_INTERVAL_MS) return;
    this.#loginReportedAtMs = nowMs;
    this.#options.onLoginRefused();
  }
}

const UNANSWERED = new Rejection("unavailable", "the upstream gave no result for the message; try again");

/** The results for what was forwarded, in this node's own words where it was taken; anything else in them is dropped. */
function resultsByHash(
  { messages }: SubmitBulkMessagesResponse,
  forwarded: ReadonlyMap<string, SignedMessage>,
): Map<string, BulkMessageResponse> {
  const results = new Map<string, BulkMessageResponse>();
  for (const { response } of messages) {
    const hash = response?.value.hash.toHex() ?? "";
    const message = forwarded.get(hash);
    if (!message || !response) continue;
    if (response.$case === "message") {
      results.set(hash, acceptedInBulk(message));
    } else {
      const { errCode, message: reason } = response.value;
      const value = { hash: message.hash, errCode: shownText(errCode), message: shownText(reason) };
      results.set(hash, { response: { $case: "messageError", value } });
    }
  }
  return results;
}

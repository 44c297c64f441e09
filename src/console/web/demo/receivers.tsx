import { useEffect, useState } from "preact/hooks";
import { request } from "../data/request.ts";
import { pageConfig } from "../page-config.ts";
import { Radios } from "../parts/form.tsx";
import { Pill, type PillKind, Time } from "../parts/pill.tsx";
import { Card } from "../parts/region.tsx";
import * as msg from "../text/en/demo/demo.ts";
import { GenerateActivity } from "./add-people.tsx";
import { followDemoFeed } from "./demo-feed.ts";

type Answer = 200 | 500 | 410 | "slow";

interface Receiver {
  readonly id: string;
  readonly url: string;
  readonly answer: Answer;
}

interface Received {
  readonly at_ms: number;
  readonly message_id: string | null;
  readonly signature: "valid" | "missing" | "invalid" | "unknown";
  readonly answer: Answer;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly is_cut: boolean;
}

const MAX_RECEIVED = 40;
const ANSWERS: readonly (readonly [Answer, string])[] = [
  [200, msg.n200Delivered],
  [500, msg.n500Fails],
  [410, msg.n410Gone],
  ["slow", msg.timeout],
];
const SIGNATURES: Readonly<Record<Received["signature"], readonly [PillKind, string]>> = {
  valid: ["ok", msg.signatureVerified],
  missing: ["warn", msg.notSigned],
  invalid: ["bad", msg.signatureWrong],
  unknown: ["warn", msg.noWebhookHasThisUrl],
};

/** Creates a receiver for an owner's webhooks. Its URL can be registered only on this node. */
export function createDemoReceiver(ownerFid: number): Promise<Receiver> {
  return request<Receiver>({ method: "POST", path: "/console/demo/receiver", body: { fid: ownerFid } });
}

/** Returns the id of the demo receiver that a webhook calls; undefined for any other URL. */
export function demoReceiverId(url: string): string | undefined {
  const [, id] = /^http:\/\/127\.0\.0\.1:\d+\/receivers\/([0-9A-Za-z-]+)$/.exec(url) ?? [];
  return pageConfig.demo ? id : undefined;
}

/** "Use the demo receiver" next to the field for a webhook's URL. Renders nothing on a node without a demo network. */
export function UseDemoReceiver({ ownerFid, onUrl }: { ownerFid: number; onUrl: (url: string) => void }) {
  const [failure, setFailure] = useState<string>();
  if (!pageConfig.demo) return null;
  const use = () =>
    createDemoReceiver(ownerFid).then(
      ({ url }) => onUrl(url),
      (cause: Error) => setFailure(cause.message),
    );
  return (
    <div class="row wrap">
      <button type="button" class="btn" onClick={use}>
        {msg.useTheDemoReceiver}
      </button>
      <span class="s dim">{failure ?? msg.itRunsNextToThisNode}</span>
    </div>
  );
}

/** Formats a request as it was sent, with its body in lines. */
function textOf({ headers, body, is_cut }: Received): string {
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${head.join("\n")}\n\n${is_cut ? `${body}\n…` : inLines(body)}`;
}

function inLines(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

function Delivery({ delivery }: { delivery: Received }) {
  const [kind, words] = SIGNATURES[delivery.signature];
  return (
    <details>
      <summary class="row wrap">
        <Pill kind={kind}>
          <span data-signature={delivery.signature}>{words}</span>
        </Pill>
        <span class="s grow">{delivery.answer === "slow" ? "timeout" : delivery.answer}</span>
        <Time at={delivery.at_ms / 1000} />
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it */}
      <pre class="box s" tabIndex={0}>
        {textOf(delivery)}
      </pre>
    </details>
  );
}

/**
 * Shows live what a webhook's demo receiver has received, and how it responds. `url` is the webhook's; renders nothing for any other
 * receiver.
 */
export function DemoReceiverPanel({ url }: { url: string }) {
  const id = demoReceiverId(url);
  const [answer, setAnswer] = useState<Answer>(200);
  const [received, setReceived] = useState<readonly Received[]>([]);
  useEffect(() => {
    if (id === undefined) return;
    setReceived([]);
    return followDemoFeed<Received, Receiver>(`receiver/${id}`, {
      onOpen: (receiver) => setAnswer(receiver.answer),
      onEvent: (delivery) => setReceived((earlier) => [delivery, ...earlier].slice(0, MAX_RECEIVED)),
    });
  }, [id]);
  if (id === undefined) return null;
  const choose = (next: Answer) => {
    setAnswer(next);
    const call = { method: "PUT", path: `/console/demo/receiver/${id}`, body: { answer: next } } as const;
    request(call).catch(() => setAnswer(answer));
  };
  return (
    <Card
      title={msg.theDemoReceiver}
      aside={received.length > 0 && <Pill>{msg.countRequests(received.length)}</Pill>}
    >
      <fieldset>
        <legend class="s">{msg.itRespondsToEachDeliveryWith}</legend>
        <Radios name="demo-answer" options={ANSWERS} value={answer} onChange={choose} />
      </fieldset>
      <GenerateActivity />
      {received.length === 0 ? (
        <p class="s dim">{msg.noRequestsYetSendATest}</p>
      ) : (
        received.map((delivery) => (
          <Delivery delivery={delivery} key={`${delivery.at_ms} ${delivery.message_id}`} />
        ))
      )}
    </Card>
  );
}

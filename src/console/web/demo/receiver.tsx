import { useEffect, useState } from "preact/hooks";
import { plural } from "../data/format.ts";
import { request } from "../data/request.ts";
import { pageConfig } from "../page-config.ts";
import { Pill, type PillKind } from "../parts/pill.tsx";
import { Time } from "../parts/time.tsx";
import { followDemoFeed } from "./demo-feed.ts";
import { MakeSomethingHappen } from "./make-happen.tsx";

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
  [200, "200, taken"],
  [500, "500, fails"],
  [410, "410, gone"],
  ["slow", "too late"],
];
const SIGNATURES: Readonly<Record<Received["signature"], readonly [PillKind, string]>> = {
  valid: ["ok", "signature verified"],
  missing: ["warn", "not signed"],
  invalid: ["bad", "signature wrong"],
  unknown: ["warn", "no webhook has this URL"],
};

/** Makes a receiver for webhooks of an owner. Its URL may be registered on this node alone. */
export function createDemoReceiver(ownerFid: number): Promise<Receiver> {
  return request<Receiver>({ method: "POST", path: "/console/demo/receiver", body: { fid: ownerFid } });
}

/** Returns the id of the demo's receiver that a webhook calls; undefined for any other URL. */
export function demoReceiverId(url: string): string | undefined {
  const [, id] = /^http:\/\/127\.0\.0\.1:\d+\/receivers\/([0-9A-Za-z-]+)$/.exec(url) ?? [];
  return pageConfig.demo ? id : undefined;
}

/** "Use the demo receiver" beside the field of a webhook's URL. Absent on a node without a demo network. */
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
        Use the demo receiver
      </button>
      <span class="s dim">
        {failure ?? "It runs beside this node, shows each request, and checks its signatures."}
      </span>
    </div>
  );
}

/** A request as it came over the wire, its body in lines. */
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
        <span class="s grow">answered {delivery.answer === "slow" ? "too late" : delivery.answer}</span>
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
 * What the demo's receiver of a webhook has got, live, and what it answers. `url` is the webhook's; absent for any other receiver
 * than the demo's.
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
    <section class="card" aria-label="The demo receiver">
      <header>
        <h2 class="grow">The demo receiver</h2>
        {received.length > 0 && <Pill>{plural(received.length, "request")}</Pill>}
      </header>
      <div class="pad stack">
        <fieldset>
          <legend class="s">It answers each delivery with</legend>
          <div class="checks">
            {ANSWERS.map(([value, label]) => (
              <label key={value}>
                <input
                  type="radio"
                  name="demo-answer"
                  checked={value === answer}
                  onChange={() => choose(value)}
                />
                {label}
              </label>
            ))}
          </div>
        </fieldset>
        <MakeSomethingHappen />
        {received.length === 0 ? (
          <p class="s dim">Nothing has come yet. Send a test, or have the people of the demo do something.</p>
        ) : (
          received.map((delivery) => (
            <Delivery delivery={delivery} key={`${delivery.at_ms} ${delivery.message_id}`} />
          ))
        )}
      </div>
    </section>
  );
}

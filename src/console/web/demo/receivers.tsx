import { useEffect, useState } from "preact/hooks";
import { AppFace, Face } from "../content/face.tsx";
import { PhoneToast } from "../content/notification.tsx";
import { request } from "../data/request.ts";
import { ActionButton, Outcome, useAction } from "../owner/action.tsx";
import { apiPrefix, pageConfig } from "../page-config.ts";
import { Radios } from "../parts/form.tsx";
import { Pill, type PillKind, Time } from "../parts/pill.tsx";
import { Card } from "../parts/region.tsx";
import * as msg from "../text/en/demo/demo.ts";
import { handleOf } from "../text/name.ts";
import { GenerateActivity } from "./add-people.tsx";
import { demoUserOf, followDemoFeed, useDemoPeople } from "./demo-feed.ts";

/** A phone of a demo person that was to show a notification. */
interface Buzz {
  readonly at_ms: number;
  readonly fid: number;
  readonly client_fid: number;
  readonly app_id: string;
  readonly notification_id: string;
  readonly title: string;
  readonly body: string;
  readonly target_url: string;
  readonly outcome: "shown" | "rate-limited";
}

const MAX_BUZZES = 400;
const FACES = 40;
const OPEN_PARAMETER = `${pageConfig.service}_open`;

/**
 * Opens a notification on half of the phones that have not opened it: each report is the public call that the script of an app makes.
 * A link without the parameter cannot be reported.
 */
function OpenOnPhones({ shown, onOpened }: { shown: readonly Buzz[]; onOpened: () => void }) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const action = useAction();
  const keyOf = ({ notification_id, fid }: Buzz) => `${notification_id} ${fid}`;
  const opens = shown.flatMap((buzz) => {
    const open = URL.parse(buzz.target_url)?.searchParams.get(OPEN_PARAMETER);
    return open && !opened.has(keyOf(buzz)) ? [{ buzz, open }] : [];
  });
  const next = opens.slice(0, Math.ceil(opens.length / 2));
  const report = () =>
    action.run(async () => {
      for (const { buzz, open } of next) {
        const { app_id, fid, client_fid } = buzz;
        const body = { app_id, open, fid, client_fid };
        await request({ method: "POST", path: `${apiPrefix}/frame/app/open`, body });
        setOpened((before) => new Set(before).add(keyOf(buzz)));
      }
      onOpened();
      return undefined;
    });
  const mine = shown.filter((buzz) => opened.has(keyOf(buzz))).length;
  if (opens.length === 0 && mine === 0) return <p class="s dim">{msg.thisSendCountsNoOpens}</p>;
  return (
    <>
      <p class="row wrap">
        {next.length > 0 && (
          <ActionButton action={action} onClick={report}>
            {msg.openOn(msg.countPhones(next.length))}
          </ActionButton>
        )}
        {mine > 0 && (
          <span class="s dim" role="status">
            {msg.openedOn(msg.countPhones(mine))}
          </span>
        )}
      </p>
      <Outcome action={action} />
    </>
  );
}

/**
 * The demo phones of people: the newest notification of an app as they show it, and who has it. With `notificationId` those
 * of one campaign. Absent on a node without a demo network.
 */
export function DemoPhones(props: {
  appId: string;
  /** Its first letter is the icon. */
  appName: string | undefined;
  notificationId?: string | undefined;
  /** Absent where opens are not shown. */
  onOpened?: () => void;
}) {
  const { appId, appName, notificationId, onOpened } = props;
  const [buzzes, setBuzzes] = useState<readonly Buzz[]>([]);
  useEffect(() => {
    if (!pageConfig.demo) return;
    return followDemoFeed<Buzz>("inbox", {
      onEvent: (buzz) => setBuzzes((earlier) => [buzz, ...earlier].slice(0, MAX_BUZZES)),
    });
  }, []);
  const { people } = useDemoPeople(buzzes.length > 0);
  if (!pageConfig.demo) return null;
  const own = buzzes.filter(
    (buzz) =>
      buzz.app_id === appId && (notificationId === undefined || buzz.notification_id === notificationId),
  );
  const [newest] = own;
  const same = own.filter((buzz) => buzz.notification_id === newest?.notification_id);
  const shown = same.filter(({ outcome }) => outcome === "shown");
  const late = same.length - shown.length;
  return (
    <Card
      title={msg.demoPhones}
      aside={
        shown.length > 0 && (
          <Pill kind="ok">
            <span data-notified={shown.length}>{msg.notified(msg.countPhones(shown.length))}</span>
          </Pill>
        )
      }
    >
      {newest === undefined ? (
        <p class="s dim">{msg.nothingYetAddDemoPeopleThen}</p>
      ) : (
        <>
          <PhoneToast
            clock={new Date(newest.at_ms).toISOString().slice(11, 16)}
            icon={<AppFace appId={appId} name={appName ?? newest.title} size={2.25} />}
            title={newest.title}
            body={newest.body}
            when={<Time at={newest.at_ms / 1000} />}
          />
          <ul class="row wrap tight" aria-label={msg.notifiedPeople}>
            {shown
              .slice(0, FACES)
              .map(({ fid }) => demoUserOf(people, fid))
              .map((user) => (
                <li key={user.fid}>
                  <a href={`/console/people/${user.fid}`} title={handleOf(user)}>
                    <Face user={user} size={1.75} />
                    <span class="skip">{handleOf(user)}</span>
                  </a>
                </li>
              ))}
            {shown.length > FACES && <li class="s dim">{msg.andMore(shown.length - FACES)}</li>}
          </ul>
          {onOpened && shown.length > 0 && <OpenOnPhones shown={shown} onOpened={onOpened} />}
          {late > 0 && <p class="s dim">{msg.hadTheClientThatAsksFor(msg.countPeople(late))}</p>}
        </>
      )}
    </Card>
  );
}

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

/** Makes a receiver for webhooks of an owner. Its URL may be registered on this node only. */
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
        {msg.useTheDemoReceiver}
      </button>
      <span class="s dim">{failure ?? msg.itRunsNextToThisNode}</span>
    </div>
  );
}

/** A request as it was sent, its body in lines. */
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
 * What the demo's receiver of a webhook has received, live, and how it responds. `url` is the webhook's; absent for any other receiver
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

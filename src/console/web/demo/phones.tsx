import { useEffect, useState } from "preact/hooks";
import { AppFace, Face } from "../content/face.tsx";
import { PhoneToast } from "../content/notification.tsx";
import { request } from "../data/request.ts";
import { ActionButton, Outcome, useAction } from "../owner/action.tsx";
import { apiPrefix, pageConfig } from "../page-config.ts";
import { Pill, Time } from "../parts/pill.tsx";
import { Card } from "../parts/region.tsx";
import * as msg from "../text/en/demo/demo.ts";
import { handleOf } from "../text/name.ts";
import { type DemoUser, demoUserOf, followDemoFeed, useDemoPeople } from "./demo-feed.ts";

/** A demo person's phone that received a notification. */
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

const keyOf = ({ notification_id, fid }: Buzz) => `${notification_id} ${fid}`;

/**
 * Returns the parameter of a notification's link with which the app can report that it was opened; undefined if opens are not counted.
 */
const openOf = ({ target_url }: Buzz) => URL.parse(target_url)?.searchParams.get(OPEN_PARAMETER) ?? undefined;

/** Opens notifications on phones: each report is the public call that an app's script makes. */
function usePhoneOpens(onOpened: (() => void) | undefined) {
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const action = useAction();
  const open = (buzzes: readonly Buzz[]) =>
    action.run(async () => {
      for (const buzz of buzzes) {
        const { app_id, fid, client_fid } = buzz;
        const body = { app_id, open: openOf(buzz), fid, client_fid };
        await request({ method: "POST", path: `${apiPrefix}/frame/app/open`, body });
        setOpened((before) => new Set(before).add(keyOf(buzz)));
      }
      onOpened?.();
      return undefined;
    });
  return { action, open, isOpened: (buzz: Buzz) => opened.has(keyOf(buzz)) };
}

type PhoneOpens = ReturnType<typeof usePhoneOpens>;

/** Opens it on half of the phones that have not opened it, a realistic outcome of a send. */
function OpenOnPhones({ shown, opens }: { shown: readonly Buzz[]; opens: PhoneOpens }) {
  const { action, open, isOpened } = opens;
  const left = shown.filter((buzz) => openOf(buzz) !== undefined && !isOpened(buzz));
  const next = left.slice(0, Math.ceil(left.length / 2));
  const count = shown.filter(isOpened).length;
  if (left.length === 0 && count === 0) return <p class="s dim">{msg.thisSendCountsNoOpens}</p>;
  return (
    <>
      {left.length > 0 && <p class="s dim">{msg.tapAPhone}</p>}
      <p class="row wrap">
        {next.length > 0 && (
          <ActionButton action={action} onClick={() => void open(next)}>
            {msg.openOn(msg.countPhones(next.length))}
          </ActionButton>
        )}
        {count > 0 && (
          <span class="s dim" role="status">
            {msg.openedOn(msg.countPhones(count))}
          </span>
        )}
      </p>
      <Outcome action={action} />
    </>
  );
}

/** A person's phone: a button while the notification can be opened on it, and otherwise a link to the person. */
function PersonsPhone({ user, buzz, opens }: { user: DemoUser; buzz: Buzz; opens: PhoneOpens | undefined }) {
  const face = <Face user={user} size={1.75} />;
  const handle = handleOf(user);
  if (opens && openOf(buzz) !== undefined) {
    const isOpened = opens.isOpened(buzz);
    const label = isOpened ? msg.openedBy(handle) : msg.openOnPhoneOf(handle);
    return (
      <button
        type="button"
        class="tap"
        title={label}
        aria-label={label}
        aria-pressed={isOpened}
        aria-disabled={isOpened || opens.action.isBusy}
        onClick={() => !isOpened && !opens.action.isBusy && void opens.open([buzz])}
      >
        {face}
      </button>
    );
  }
  return (
    <a href={`/console/people/${user.fid}`} title={handle}>
      {face}
      <span class="skip">{handle}</span>
    </a>
  );
}

/**
 * The phones of demo people: the newest notification of an app as they show it, and who has it. With `notificationId`, those of one
 * campaign. Renders nothing on a node without a demo network.
 */
export function DemoPhones(props: {
  appId: string;
  /** Its first letter is the icon. */
  appName: string | undefined;
  notificationId?: string | undefined;
  /** Undefined if opens are not shown. */
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
  const opens = usePhoneOpens(onOpened);
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
            {shown.slice(0, FACES).map((buzz) => (
              <li key={buzz.fid}>
                <PersonsPhone
                  user={demoUserOf(people, buzz.fid)}
                  buzz={buzz}
                  opens={onOpened ? opens : undefined}
                />
              </li>
            ))}
            {shown.length > FACES && <li class="s dim">{msg.andMore(shown.length - FACES)}</li>}
          </ul>
          {onOpened && shown.length > 0 && <OpenOnPhones shown={shown} opens={opens} />}
          {late > 0 && <p class="s dim">{msg.hadTheClientThatAsksFor(msg.countPeople(late))}</p>}
        </>
      )}
    </Card>
  );
}

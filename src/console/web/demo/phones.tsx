import { useEffect, useState } from "preact/hooks";
import { plural } from "../data/format.ts";
import { pageConfig } from "../page-config.ts";
import { AppFace } from "../parts/app-face.tsx";
import { Face } from "../parts/face.tsx";
import { PhoneToast } from "../parts/notification-toast.tsx";
import { Pill } from "../parts/pill.tsx";
import { Time } from "../parts/time.tsx";
import { handleOf } from "../text/name.ts";
import { followDemoFeed } from "./demo-feed.ts";
import { demoUserOf, useDemoPeople } from "./people.ts";

/** A phone of a demo person that was to show a notification. */
interface Buzz {
  readonly at_ms: number;
  readonly fid: number;
  readonly app_id: string;
  readonly notification_id: string;
  readonly title: string;
  readonly body: string;
  readonly target_url: string;
  readonly outcome: "shown" | "rate-limited";
}

const MAX_BUZZES = 400;
const FACES = 40;

/**
 * The phones of the demo people: the newest notification of an app as it stands on them, and who has it. With `notificationId` those
 * of one campaign. Absent on a node without a demo network.
 */
export function DemoPhones({
  appId,
  appName,
  notificationId,
}: {
  appId: string;
  /** Its first letter is the icon. */
  appName: string | undefined;
  notificationId?: string | undefined;
}) {
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
    <section class="card" aria-label="The phones of the demo">
      <header>
        <h2 class="grow">The phones of the demo</h2>
        {shown.length > 0 && (
          <Pill kind="ok">
            <span data-buzzed={shown.length}>{plural(shown.length, "phone")} buzzed</span>
          </Pill>
        )}
      </header>
      {newest === undefined ? (
        <p class="empty s">
          Nothing yet. Have demo people add the app, then send: each of their phones buzzes here, as the real
          client apps would have it.
        </p>
      ) : (
        <div class="pad stack">
          <PhoneToast
            clock={new Date(newest.at_ms).toISOString().slice(11, 16)}
            icon={<AppFace appId={appId} name={appName ?? newest.title} size={2.25} />}
            title={newest.title}
            body={newest.body}
            when={<Time at={newest.at_ms / 1000} />}
          />
          <ul class="row wrap tight" aria-label="People whose phone buzzed">
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
            {shown.length > FACES && <li class="s dim">and {shown.length - FACES} more</li>}
          </ul>
          {late > 0 && (
            <p class="s dim">
              {plural(late, "person", "people")} had the client that asks for every tenth notification later.
              "Send to those again" reaches them.
            </p>
          )}
        </div>
      )}
    </section>
  );
}

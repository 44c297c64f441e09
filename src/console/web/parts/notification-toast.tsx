import type { ComponentChildren } from "preact";
import { UserName } from "../text/user-name.tsx";
import { UserText } from "../text/user-text.tsx";

/** A notification as a phone shows it: on its lock screen below the clock, with the icon of its app. */
export function PhoneToast({
  clock,
  icon,
  title,
  body,
  when,
}: {
  clock: string;
  icon: ComponentChildren;
  title: string;
  body: string;
  when: ComponentChildren;
}) {
  return (
    <div class="phone">
      <span class="clock" aria-hidden="true">
        {clock}
      </span>
      <div class="toast" data-toast>
        {icon}
        <b>
          <UserName name={title} />
        </b>
        {when}
        <p>
          <UserText text={body} runs={[{ kind: "text", text: body }]} />
        </p>
      </div>
    </div>
  );
}

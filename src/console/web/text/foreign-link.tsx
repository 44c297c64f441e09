import type { ComponentChildren } from "preact";
import { pageOfClientUrl } from "./client-urls.ts";
import type { Link } from "./link.ts";

/** The address of a link as it is: its host in bold, then the path. */
export function LinkText({ link }: { link: Link }) {
  return (
    <bdi dir="ltr">
      <b>{link.host}</b>
      {link.rest}
    </bdi>
  );
}

/** A link that a user wrote. A link to a known client opens here; any other opens a tab without a reference to this page. */
export function ForeignLink({
  link,
  class: className,
  children,
}: {
  link: Link;
  class?: string;
  children?: ComponentChildren;
}) {
  const shown = children ?? <LinkText link={link} />;
  const page = pageOfClientUrl(link.href);
  if (page !== undefined)
    return (
      <a href={page} class={className} title={link.href}>
        {shown}
      </a>
    );
  return (
    <a
      href={link.href}
      class={className}
      title={link.href}
      target="_blank"
      rel="noopener noreferrer nofollow ugc"
      referrerpolicy="no-referrer"
    >
      {shown}
    </a>
  );
}

/** Where a link of model text leads: only pages of other hosts and mail addresses stay links. */

export interface LinkTarget {
  /** Whether it stays a link. Others are drawn as text: an address of this server would open without the token. */
  opens: boolean;
  /** What is shown after the label: the host, the mail address, or the whole address of what is no link. */
  shown: string;
}

/** `href` as Markdown gives it, `ownHost` as in `location.host`. */
export function linkTarget(href: string, ownHost: string): LinkTarget {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (url?.protocol === 'mailto:') return { opens: true, shown: url.pathname };
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  return isWeb && url.host !== ownHost ? { opens: true, shown: url.host } : { opens: false, shown: href };
}

/** Whether the label says where the link leads, letter by letter. */
export function namesTarget(label: string, href: string): boolean {
  return label === href || `mailto:${label}` === href || `http://${label}` === href;
}

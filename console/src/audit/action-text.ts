// The words for an action of the audit trail. Pure.

/** `event_type.replaced` is shown as `Event type replaced`. */
export function actionText(action: string): string {
  const words = action.replace(/[._]/gu, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Context under which the secret of a subscription is sealed. */
export function secretContext(subscription_id: string): string {
  return `webhook secret ${subscription_id}`
}

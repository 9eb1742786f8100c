/** What a payment with a card comes to. */
export type CardOutcome = 'succeeds' | 'declined' | 'needs_confirmation';

/** A card that can be picked on the pages and named over the API. */
export interface Card {
  /** The test payment method of that name. */
  token: string;
  number: string;
  brand: string;
  label: string;
  declineCode?: string;
  /** `isPresent`: somebody sits at the page. `priorPayments`: how often it was charged before. */
  outcome(payment: { isPresent: boolean; priorPayments: number }): CardOutcome;
}

export const CARDS: readonly Card[] = [
  {
    token: 'pm_card_visa',
    number: '4242424242424242',
    brand: 'visa',
    label: 'Works',
    outcome: () => 'succeeds',
  },
  {
    token: 'pm_card_mastercard',
    number: '5555555555554444',
    brand: 'mastercard',
    label: 'Works (another brand)',
    outcome: () => 'succeeds',
  },
  {
    token: 'pm_card_chargeDeclined',
    number: '4000000000000002',
    brand: 'visa',
    label: 'Declined',
    declineCode: 'generic_decline',
    outcome: () => 'declined',
  },
  {
    token: 'pm_card_chargeDeclinedInsufficientFunds',
    number: '4000000000009995',
    brand: 'visa',
    label: 'Declined for insufficient funds',
    declineCode: 'insufficient_funds',
    outcome: () => 'declined',
  },
  {
    token: 'pm_card_authenticationRequired',
    number: '4000002760003184',
    brand: 'visa',
    label: 'Wants confirmation each time',
    outcome: () => 'needs_confirmation',
  },
  {
    token: 'pm_card_chargeCustomerFail',
    number: '4000000000000341',
    brand: 'visa',
    label: 'Works now and fails later',
    declineCode: 'generic_decline',
    outcome: ({ isPresent, priorPayments }) => (isPresent && priorPayments === 0 ? 'succeeds' : 'declined'),
  },
];

/** The card of a test payment method such as `pm_card_visa`, or of a number. */
export function findCard(tokenOrNumber: string): Card | undefined {
  const wanted = tokenOrNumber.replace(/[\s-]/g, '');
  return CARDS.find(({ token, number }) => token === wanted || number === wanted);
}

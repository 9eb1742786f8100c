import { Alert, Button, Group, Text } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';
import { Loading, Page } from '../frame/page.js';
import { Part } from '../frame/part.js';
import { useFormats } from '../i18n/formats.js';
import { useRole } from '../session/session.js';
import type { BillingRecord } from './banners.js';
import { BilledNumbers } from './billed-numbers.js';
import { Buying } from './buying.js';
import { Invoices } from './invoices.js';

const READ_EVERY_MS = 3_000;

/** What the account pays and why, what the next number costs, and what is open. */
export function BillingPage() {
  const { t } = useTranslation(['billing', 'frame']);
  const role = useRole();
  const mayPay = role === 'owner' || role === 'billing';
  const billing = useRead('getBilling', {}, { enabled: mayPay, everyMs: READ_EVERY_MS });
  return (
    <Page title={t('frame:areas.billing')}>
      {!mayPay && <Text>{t('billing:notYours')}</Text>}
      <FailureNote error={billing.error} />
      {mayPay && billing.isPending && <Loading />}
      {billing.data && (billing.data.plan === 'off' ? <Text>{t('billing:off')}</Text> : <Paid record={billing.data} />)}
    </Page>
  );
}

function Paid({ record }: { record: BillingRecord }) {
  return (
    <>
      <AfterCheckout isPaid={record.plan === 'paid'} />
      <Plan record={record} />
      <OpenPayments open={record.open} />
      <Buying record={record} />
      <BilledNumbers record={record} />
      <Invoices hasBought={record.status !== null} />
    </>
  );
}

/** Stripe reports a purchase some moments after the visitor is back. */
function AfterCheckout({ isPaid }: { isPaid: boolean }) {
  const { t } = useTranslation('billing');
  const { checkout } = useSearch({ from: '/app/billing' });
  if (checkout === undefined || (checkout === 'cancelled' && isPaid)) return null;
  const text = checkout === 'cancelled' ? 'back.cancelled' : isPaid ? 'back.done' : 'back.waiting';
  return <Alert role="status">{t(text)}</Alert>;
}

function Plan({ record }: { record: BillingRecord }) {
  const { t } = useTranslation('billing');
  const { date, money } = useFormats();
  const {
    plan,
    numbers,
    free,
    bought,
    price,
    next_invoice: next,
    period_end: end,
    cancel_at_period_end: ends,
  } = record;
  return (
    <Part title={t(plan === 'paid' ? 'plan.paid' : 'plan.free')}>
      <Text>{t('plan.numbers', { count: numbers ?? 0 })}</Text>
      <Text>{t('plan.freePlaces', { count: free ?? 0 })}</Text>
      {price && <Text>{t('plan.bought', { count: bought, price: money(price.amount, price.currency) })}</Text>}
      {next && (
        <Text>
          {t('plan.next', { amount: money(next.amount, next.currency), date: date(next.at), numbers: next.numbers })}
        </Text>
      )}
      {ends && end !== null && <Text>{t('plan.ends', { date: date(end) })}</Text>}
      {record.status !== null && <Portal />}
    </Part>
  );
}

function Portal() {
  const { t } = useTranslation('billing');
  const open = useAction('openPortal', { onDone: ({ url }) => window.location.assign(url) });
  return (
    <>
      <FailureNote error={open.error} />
      <Button variant="default" loading={open.isPending} onClick={() => open.mutate({})}>
        {t('portal')}
      </Button>
    </>
  );
}

function OpenPayments({ open }: { open: BillingRecord['open'] }) {
  const { t } = useTranslation('billing');
  const { dateTime, money } = useFormats();
  if (open.length === 0) return null;
  return (
    <Part title={t('open.title')}>
      {open.map(({ kind, amount, currency, url, until }) => {
        const words = { amount: money(amount, currency) };
        return (
          <Group key={`${kind} ${url}`} justify="space-between" w="100%">
            <div>
              <Text>{t(`open.${kind}`, words)}</Text>
              {until !== null && <Text size="sm">{t(`open.${kind}Until`, { date: dateTime(until) })}</Text>}
            </div>
            {url !== null && (
              <Button component="a" href={url}>
                {t('open.pay', words)}
              </Button>
            )}
          </Group>
        );
      })}
    </Part>
  );
}

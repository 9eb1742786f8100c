import { Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { operation, useAction } from '../api/api.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { Part } from '../frame/part.js';
import { useFormats } from '../i18n/formats.js';
import type { BillingRecord } from './banners.js';

const MOST = 10_000;

/** The first purchase on Stripe's page; after it the limit up to which numbers are bought when they are linked. */
export function Buying({ record }: { record: BillingRecord }) {
  return record.plan === 'paid' ? <Limit record={record} /> : <FirstPurchase record={record} />;
}

function FirstPurchase({ record: { numbers, free, price } }: { record: BillingRecord }) {
  const { t } = useTranslation('billing');
  const { money } = useFormats();
  const [places, setPlaces] = useState(Math.max(1, (numbers ?? 0) - (free ?? 0)));
  const checkOut = useAction('checkOut', { onDone: ({ url }) => window.location.assign(url) });
  const perMonth = price ? money(price.amount * places, price.currency) : '';
  return (
    <Part title={t('buy.title')}>
      <Text size="sm">{t('buy.text')}</Text>
      <NumberInput
        label={t('buy.places')}
        value={places}
        min={1}
        max={MOST}
        allowDecimal={false}
        clampBehavior="strict"
        onChange={(value) => setPlaces(Math.max(1, Number(value)))}
        error={fieldFault(checkOut.error, 'numbers')}
      />
      <Text>{t('buy.cost', { amount: perMonth, count: places })}</Text>
      <FailureNote error={checkOut.error} fields={['numbers']} />
      <Button loading={checkOut.isPending} onClick={() => checkOut.mutate({ body: { numbers: places } })}>
        {t('buy.submit')}
      </Button>
    </Part>
  );
}

function Limit({ record: { limit, bought, numbers, free } }: { record: BillingRecord }) {
  const { t } = useTranslation('billing');
  const further = Math.max(0, (numbers ?? 0) - (free ?? 0));
  const [wanted, setWanted] = useState(Math.max(limit, bought, further));
  const change = useAction('changeBilling', { changes: ['getBilling', 'listInvoices', 'listBilledNumbers'] });
  const isRaised = wanted > limit;
  return (
    <Part title={t('limit.title')}>
      <NextNumber places={bought + 1} />
      <Text size="sm">{limit === 0 ? t('limit.none') : t('limit.now', { count: limit })}</Text>
      <NumberInput
        label={t('limit.label')}
        value={wanted}
        min={0}
        max={MOST}
        allowDecimal={false}
        clampBehavior="strict"
        onChange={(value) => setWanted(Number(value))}
        error={fieldFault(change.error, 'limit')}
      />
      {isRaised ? (
        <RaisedLimit key={wanted} wanted={wanted} change={change} />
      ) : (
        <Button
          variant="default"
          disabled={wanted === limit}
          loading={change.isPending}
          onClick={() => change.mutate({ body: { limit: wanted } })}
        >
          {t('limit.lower')}
        </Button>
      )}
      <FailureNote error={change.error} fields={['limit']} />
      <Text size="sm" role="status">
        {change.isSuccess ? t('limit.done') : ''}
      </Text>
    </Part>
  );
}

/** A limit is raised only after the exact amount was shown. */
function RaisedLimit({ wanted, change }: { wanted: number; change: ReturnType<typeof useAction<'changeBilling'>> }) {
  const { t } = useTranslation('billing');
  const { money } = useFormats();
  const show = useAction('previewBilling');
  const shown = show.data;
  return (
    <Stack gap="sm" align="flex-start">
      {shown === undefined ? (
        <Button variant="default" loading={show.isPending} onClick={() => show.mutate({ body: { numbers: wanted } })}>
          {t('limit.show')}
        </Button>
      ) : (
        <>
          <Text role="status">
            {t('limit.amount', {
              amount: money(shown.amount, shown.currency),
              price: money(shown.price, shown.currency),
              count: shown.numbers,
            })}
          </Text>
          <Group>
            <Button
              loading={change.isPending}
              onClick={() => change.mutate({ body: { limit: wanted, preview: shown.preview } })}
            >
              {t('limit.raise')}
            </Button>
          </Group>
        </>
      )}
      <FailureNote error={show.error} />
    </Stack>
  );
}

/** What one number more costs for the rest of the period. */
function NextNumber({ places }: { places: number }) {
  const { t } = useTranslation('billing');
  const { money } = useFormats();
  const preview = operation('previewBilling', { body: { numbers: places } });
  const { data, error } = useQuery({ ...preview, staleTime: Infinity });
  if (error) return <FailureNote error={error} />;
  return <Text>{data ? t('limit.next', { amount: money(data.amount, data.currency) }) : ''}</Text>;
}

import { Button, Group, List, NumberInput, Text, TextInput } from '@mantine/core';
import type { OperatorAccount } from '@dormouse/management-contract';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../api/api.js';
import { Part } from '../channels/part.js';
import { useTimes } from '../channels/times.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { Loading } from '../frame/page.js';
import { beginLook } from '../session/session.js';
import { OperatorPage } from './operator-page.js';

const route = getRouteApi('/app/operators/accounts/$account');

/** One account: what it pays, gifts, and a look as its customer sees it. */
export function AccountPage() {
  const { t } = useTranslation('operators');
  const { account: id } = route.useParams();
  const { data, error } = useRead('getOperatorAccount', { path: { id } });
  return (
    <OperatorPage title={data?.name ?? t('account.title')}>
      <FailureNote error={error} />
      {!data && !error && <Loading />}
      {data && <Facts account={data} />}
      {data && data.billing?.plan !== 'off' && <Gifts account={id} />}
    </OperatorPage>
  );
}

function Facts({ account }: { account: OperatorAccount }) {
  const { t } = useTranslation('operators');
  const { moment } = useTimes();
  const navigate = useNavigate();
  const { id, name, owners, channels, billing, created_at: createdAt, ended_at: endedAt } = account;
  return (
    <Part title={t('account.facts')}>
      <List size="sm">
        <List.Item>{id}</List.Item>
        <List.Item>{t('account.created', { time: moment(createdAt * 1_000) })}</List.Item>
        {endedAt !== undefined && <List.Item>{t('account.ended', { time: moment(endedAt * 1_000) })}</List.Item>}
        {owners.map(({ email, name: owner }) => (
          <List.Item key={email} style={{ overflowWrap: 'anywhere' }}>
            {t('account.owner', { name: owner, email })}
          </List.Item>
        ))}
        <List.Item>{t('accounts.channels', { n: channels })}</List.Item>
        <List.Item>{billing ? t(`accounts.plan.${billing.plan}`) : t('accounts.billingAway')}</List.Item>
        {billing?.numbers != null && (
          <List.Item>
            {t('account.numbers', { n: billing.numbers, free: billing.free ?? 0, bought: billing.bought })}
          </List.Item>
        )}
        {billing?.status != null && <List.Item>{t('account.subscription', { status: billing.status })}</List.Item>}
        {billing && billing.open > 0 && <List.Item>{t('accounts.open', { n: billing.open })}</List.Item>}
      </List>
      {endedAt === undefined && (
        <div>
          <Text size="sm" mb="xs">
            {t('account.lookHelp')}
          </Text>
          <Button
            onClick={() => {
              beginLook({ id, name });
              void navigate({ to: '/channels', search: {} });
            }}
          >
            {t('account.look')}
          </Button>
        </div>
      )}
    </Part>
  );
}

function Gifts({ account }: { account: string }) {
  const { t } = useTranslation('operators');
  const { moment } = useTimes();
  const changes = ['getFreeNumbers', 'getOperatorAccount', 'listOperatorAccounts'] as const;
  const { data, error } = useRead('getFreeNumbers', { path: { account } });
  const give = useAction('giveFreeNumbers', { changes });
  const end = useAction('endFreeNumbers', { changes });
  const [numbers, setNumbers] = useState<number | string>(1);
  const [reason, setReason] = useState('');
  const given = data?.given.find((gift) => gift.in_effect);
  return (
    <Part title={t('gifts.title')} about={t('gifts.about')}>
      <FailureNote error={error} />
      {data && (
        <Text size="sm" role="status">
          {given
            ? t('gifts.given', { n: given.numbers, reason: given.reason, by: given.granted_by })
            : t('gifts.none', { n: data.free })}
          {given?.ends_at != null && ` ${t('gifts.until', { time: moment(given.ends_at * 1_000) })}`}
        </Text>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          give.mutate({ path: { account }, body: { numbers: Number(numbers), reason } });
        }}
      >
        <Group align="flex-end">
          <NumberInput
            label={t('gifts.numbers')}
            min={1}
            allowDecimal={false}
            value={numbers}
            onChange={setNumbers}
            error={fieldFault(give.error, 'numbers')}
          />
          <TextInput
            label={t('gifts.reason')}
            value={reason}
            required
            maxLength={500}
            error={fieldFault(give.error, 'reason')}
            onChange={({ currentTarget: { value } }) => setReason(value)}
          />
          <Button type="submit" variant="default" loading={give.isPending}>
            {t('gifts.give')}
          </Button>
          {given && (
            <Button variant="default" loading={end.isPending} onClick={() => end.mutate({ path: { account } })}>
              {t('gifts.end')}
            </Button>
          )}
        </Group>
      </form>
      <FailureNote error={give.error ?? end.error} fields={['numbers', 'reason']} />
    </Part>
  );
}

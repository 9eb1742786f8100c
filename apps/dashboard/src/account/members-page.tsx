import { Badge, Button, Group, NativeSelect, Paper, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { useAction, useRead } from '../api/api.js';
import type { Answer } from '../api/operation-types.js';
import { ConfirmButton } from '../frame/confirm-button.js';
import { CopyField } from '../frame/copy-field.js';
import { FailureNote, fieldFault } from '../frame/failure-note.js';
import { Loading } from '../frame/page.js';
import { useFormats } from '../i18n/formats.js';
import { useAccount, useSession, type ChosenAccount } from '../session/session.js';
import { AccountSection } from './account-section.js';

type Member = Answer<'listMembers'>['members'][number];
type Role = ChosenAccount['role'];

const ROLES: readonly Role[] = ['owner', 'developer', 'billing', 'viewer'];

function isRole(text: string): text is Role {
  return ROLES.some((role) => role === text);
}

/** Who works with the account, and who is invited. Owners change it; all others see who is there. */
export function MembersPage() {
  const { t } = useTranslation('account');
  const members = useRead('listMembers', {});
  const isOwner = useAccount().role === 'owner';
  return (
    <AccountSection name="members">
      <FailureNote error={members.error} />
      {members.isPending && <Loading />}
      {!isOwner && <Text size="sm">{t('members.ownersChange')}</Text>}
      {members.data && (
        <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
          {members.data.members.map((member) => (
            <MemberRow key={member.id} member={member} isOwner={isOwner} />
          ))}
        </Stack>
      )}
      {isOwner && <Invitations />}
      <Roles />
    </AccountSection>
  );
}

function MemberRow({ member, isOwner }: { member: Member; isOwner: boolean }) {
  const { t } = useTranslation('account');
  const ownId = useSession()?.user.id;
  const change = useAction('changeRole', { changes: ['listMembers', 'listAccounts'] });
  const remove = useAction('removeMember', { changes: ['listMembers'] });
  const { id, name, email, role } = member;
  return (
    <Paper withBorder p="sm" component="li">
      <Group justify="space-between">
        <div style={{ minWidth: 0 }}>
          <Text fw={500}>
            {name} {id === ownId && <Badge variant="light">{t('members.you')}</Badge>}
          </Text>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {email} · {t(member.second_factor ? 'members.secondFactor' : 'members.noSecondFactor')}
          </Text>
        </div>
        {isOwner ? (
          <Group gap="xs">
            <NativeSelect
              aria-label={t('members.roleOf', { name })}
              value={role}
              disabled={change.isPending}
              data={ROLES.map((value) => ({ value, label: t(`roles.${value}.name`) }))}
              onChange={({ currentTarget: { value } }) =>
                void (isRole(value) && change.mutate({ path: { id }, body: { role: value } }))
              }
            />
            {id !== ownId && (
              <ConfirmButton
                label={t('members.remove')}
                name={t('members.removeOf', { name })}
                title={t('members.removeOf', { name })}
                text={t('members.removeText')}
                action={remove}
                onConfirm={() => remove.mutateAsync({ path: { id } })}
              />
            )}
          </Group>
        ) : (
          <Badge variant="light">{t(`roles.${role}.name`)}</Badge>
        )}
      </Group>
      <FailureNote error={change.error} />
    </Paper>
  );
}

function Invitations() {
  const { t } = useTranslation('account');
  const { date } = useFormats();
  const invitations = useRead('listInvitations', {});
  const withdraw = useAction('withdrawInvitation', { changes: ['listInvitations'] });
  const open = invitations.data?.invitations ?? [];
  return (
    <Stack gap="sm">
      <Title order={2}>{t('invite.title')}</Title>
      <InviteForm />
      <FailureNote error={invitations.error ?? withdraw.error} />
      {open.map(({ id, email, role, expires_at: expiresAt }) => (
        <Group key={id} justify="space-between">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {t('invite.open', { email, role: t(`roles.${role}.name`), date: date(expiresAt) })}
          </Text>
          <Button
            variant="default"
            size="xs"
            aria-label={t('invite.withdrawOf', { email })}
            onClick={() => withdraw.mutate({ path: { id } })}
          >
            {t('invite.withdraw')}
          </Button>
        </Group>
      ))}
    </Stack>
  );
}

function InviteForm() {
  const { t } = useTranslation('account');
  const form = useForm({ initialValues: { email: '', role: 'developer' } });
  const invite = useAction('invite', { changes: ['listInvitations'], onDone: () => form.setFieldValue('email', '') });
  const submit = ({ email, role }: typeof form.values): void =>
    void (isRole(role) && invite.mutate({ body: { email, role } }));
  return (
    <form onSubmit={form.onSubmit(submit)}>
      <Stack gap="sm" align="flex-start" maw={420}>
        <TextInput
          label={t('invite.email')}
          type="email"
          required
          w="100%"
          {...form.getInputProps('email')}
          error={fieldFault(invite.error, 'email')}
        />
        <NativeSelect
          label={t('invite.role')}
          w="100%"
          data={ROLES.map((value) => ({ value, label: t(`roles.${value}.name`) }))}
          {...form.getInputProps('role')}
        />
        <FailureNote error={invite.error} fields={['email']} />
        <Button type="submit" loading={invite.isPending}>
          {t('invite.submit')}
        </Button>
        <Text size="sm" role="status">
          {invite.isSuccess ? t(invite.data.link === undefined ? 'invite.sent' : 'invite.link') : ''}
        </Text>
        {invite.data?.link !== undefined && <CopyField value={invite.data.link} label={t('invite.linkLabel')} />}
      </Stack>
    </form>
  );
}

function Roles() {
  const { t } = useTranslation('account');
  return (
    <Stack gap="xs">
      <Title order={2}>{t('roles.title')}</Title>
      <Table layout="fixed">
        <Table.Tbody>
          {ROLES.map((role) => (
            <Table.Tr key={role}>
              <Table.Th scope="row" w={120}>
                {t(`roles.${role}.name`)}
              </Table.Th>
              <Table.Td>{t(`roles.${role}.may`)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}

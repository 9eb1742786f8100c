import { Anchor, Button, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useAction } from '../api/api.js';
import { FailureNote } from '../frame/failure-note.js';
import { Loading } from '../frame/page.js';
import { chooseAccount, useSession, useSessionState } from '../session/session.js';
import { useEnter } from './entering.js';
import { LinkPage } from './link-page.js';
import { NameField, NewPasswordField } from './user-fields.js';

const PATH = '/invitation';

/** Accepts an invitation: as the user who is signed in, or as somebody new, who becomes one. */
export function InvitationPage() {
  const { t } = useTranslation('signIn');
  const enter = useEnter();
  const session = useSessionState();
  const accept = useAction('acceptInvitation', {
    onDone: ({ id }) => {
      chooseAccount(id);
      enter();
    },
  });
  const join = useAction('joinAccount');
  return (
    <LinkPage path={PATH} title={t('invitation.title')} error={accept.error ?? join.error}>
      {(token) => {
        if (session === undefined) return <Loading />;
        if (join.isSuccess) return <Joined account={join.data.name} />;
        if (typeof session === 'object') return <AcceptForm token={token} accept={accept} />;
        return <JoinForm token={token} join={join} />;
      }}
    </LinkPage>
  );
}

function AcceptForm({ token, accept }: { token: string; accept: ReturnType<typeof useAction<'acceptInvitation'>> }) {
  const { t } = useTranslation('signIn');
  const email = useSession()?.user.email ?? '';
  return (
    <>
      <Text>{t('invitation.asUser', { email })}</Text>
      <FailureNote error={accept.error} />
      <Button loading={accept.isPending} onClick={() => accept.mutate({ body: { token } })}>
        {t('invitation.submit')}
      </Button>
    </>
  );
}

function JoinForm({ token, join }: { token: string; join: ReturnType<typeof useAction<'joinAccount'>> }) {
  const { t } = useTranslation('signIn');
  const navigate = useNavigate();
  const form = useForm({ initialValues: { name: '', password: '' } });
  return (
    <form onSubmit={form.onSubmit((user) => join.mutate({ body: { token, ...user } }))}>
      <Stack>
        <Text>{t('invitation.asNew')}</Text>
        <NameField input={form.getInputProps('name')} error={join.error} />
        <NewPasswordField input={form.getInputProps('password')} error={join.error} />
        <FailureNote error={join.error} fields={['name', 'password']} />
        <Button type="submit" loading={join.isPending}>
          {t('invitation.submit')}
        </Button>
        <Button variant="subtle" onClick={() => void navigate({ to: '/sign-in', search: { returnTo: PATH } })}>
          {t('invitation.known')}
        </Button>
      </Stack>
    </form>
  );
}

function Joined({ account }: { account: string }) {
  const { t } = useTranslation('signIn');
  return (
    <>
      <Text role="status">{t('invitation.done', { account })}</Text>
      <Anchor component={Link} to="/sign-in">
        {t('title')}
      </Anchor>
    </>
  );
}

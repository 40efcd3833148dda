"""The evaluation server: benchmarks with hidden references, and human studies. One process, one database.

`create_app(ServerSettings(…))` in `app.py` is the application; `run.py` runs it; nothing happens at import. From top to
ground, each imports what stands lower only; every module says what it does:

    cli                        `sacrecap serve`, `sacrecap submit`, `sacrecap study`
    run, app                   on its address, until it is told to end; routes, and what errors become
    pages, api                 HTML, by subject; JSON under /api/v1
    web                        routes with roles, the context of a request, what requests share, limits around them
    boards, studies, mail      benchmarks and ranks; human studies (`sacrecap_studies`); letters
    accounts, jobs             who is calling and what they may do; work outside the request
    store                      the database, its tables and migrations, files, backups
    settings, observability    what the operator chooses; logs and metrics

**A page**: a function in a module of `pages/`, whose `routes` is in `pages.ROUTES`:

    @routes.page("/studies/{study_id}", role=Role.ORGANISER)                 # GET; methods=("POST",) for a form
    def study_page(context: Context, study_id: int) -> Response:
        with context.database.read() as session:
            study = session.get(Study, study_id)
        if study is None or not context.caller.owns(study.owner_id):
            raise not_found("study")
        return context.render("study.html", study=study)

Handlers are plain functions (they run in threads). They do what they do in one transaction and answer *after* the
block: `with context.database.write() as session` has committed, to the disk, when it ends. Load what the template needs
inside the block (relationships are `lazy="raise"`). Refuse with `Refused(422, "…", problems)`; what a caller must not
know to exist is `not_found`. Forms carry `{{ forms.csrf(context) }}`; scripts send `X-CSRF-Token`. After a form,
`context.redirect(path, "key of NOTICES")`. Parameters are FastAPI's (`Annotated[str, Form(max_length=…)]`,
`UploadFile`, path and query). A part of a path that the handler takes as `int` is one to nine digits.

**An API route**: `@routes.api("/studies/{id}", role=…)` in `api/`, returning a pydantic model of `schemas`; errors
have one shape.

**Roles**: ANYONE < MEMBER (submits for a team) < ORGANISER (makes benchmarks and studies, manages their own) < ADMIN.
The role is necessary, `context.caller.owns(owner_id)` decides about one object. An account with an obstacle (address
not confirmed, team not approved) changes nothing, except by routes with `always=True`. API tokens need a scope, which
`Routes.api` derives from path and method unless it is given. Annotators have no account: below `/s/`,
`context.cookie_hash` is what to store to know a browser again (it sets the cookie when there is none), and the CSRF
token works with it too. That cookie is not the one of the sign-in.

**Mail**: `post.queue(session, settings, account, letter)` in the transaction of what it is about, then
`context.state.post.wake()`. **A limit**: `context.state.limits.….take(key)`, before anything else is done.

**A table**: a class in a module of `models/`, imported in `models/__init__.py`. Until the first release, the one
migration makes what the models say; `tests/test_migrations.py` compares both, on both databases.

**A job**: `jobs.add(session, "kind", row_id)` in the transaction of the row, then `context.state.jobs.wake()`; the kind
is registered in `jobs.JOB_KINDS` by the module that defines it, as three steps: read from the database, compute in a
child process that has no database, store in the transaction that marks the job done. Jobs may run twice; they are
stored once.

**Content Security Policy**: no inline script or style, nothing from elsewhere. A page that shows images of other
sites sets its own `Content-Security-Policy` header on its response, which is kept.

**Tests** (`packages/server/tests`): the fixture `world` is a server in the process on SQLite, `any_world` the same on
SQLite and PostgreSQL, `mail_world` one with mail. `world.browser(Role.ORGANISER)` is signed in with an account of the
role; its `get(path)` and `post(path, field=…)` send forms with their CSRF token; `world.api(role)` shows an API token;
`world.run_jobs()` runs what is queued, `mail_world.mail()` sends it. Tests that open pages share one real server,
`site`, and make there what they show. `test_roles.py` walks every route by every role by itself: a path parameter needs
an example value in `SAMPLES` there.
"""

/// The description of the HTTP API (OpenAPI 3.1), as `/openapi.json` serves it.
///
/// Documentation/openapi.yaml as JSON: `Scripts/openapi` writes this file.
enum APIDescription {
    /// The description's text.
    static let json = #"""
        {
        "openapi":"3.1.0",
        "info":{
        "title":"Backline",
        "version":"1",
        "description":"The HTTP operations of a Backline server. Protocol.md explains them, and has the messages of \#
        the sockets. Every path that answers GET also answers HEAD, without a body. A method that the path does not \#
        have is answered 405 with Allow. An unknown path is answered 404. Both answers have a problem. Bytes that \#
        are not an HTTP request are answered 400 with a problem. Every answer has X-Content-Type-Options, \#
        Referrer-Policy, Cache-Control (no-store) and Content-Security-Policy. If the server itself terminates TLS, \#
        the answer also has Strict-Transport-Security. In requests, object members that are not described here are \#
        ignored, and null means the same as absent. Lengths of texts count Unicode scalars, without white space at \#
        either end."
        },
        "security":[{"token":[]},{"cookie":[]}],
        "paths":{
        "/healthz":{
        "get":{"operationId":"getHealth","summary":"Tells whether the process \#
        lives","security":[],"responses":{"200":{"description":"The process lives.","content":{"application/json":{"\#
        schema":{"$ref":"#/components/schemas/Status"}}}},"429":{"$ref":"#/components/responses/RateLimited"}}}
        },
        "/readyz":{
        "get":{"operationId":"getReadiness","summary":"Tells whether the server can take \#
        traffic","security":[],"responses":{"200":{"description":"The server can take traffic.","content":{"applicat\#
        ion/json":{"schema":{"$ref":"#/components/schemas/Status"}}}},"429":{"$ref":"#/components/responses/RateLimi\#
        ted"},"503":{"$ref":"#/components/responses/Unavailable"}}}
        },
        "/metrics":{
        "get":{"operationId":"getMetrics","summary":"Returns the metrics, in the text format of \#
        Prometheus","security":[],"responses":{"200":{"description":"The metrics.","content":{"text/plain":{"schema"\#
        :{"type":"string"}}}},"429":{"$ref":"#/components/responses/RateLimited"}}}
        },
        "/openapi.json":{
        "get":{"operationId":"getDescription","summary":"Returns this \#
        description","security":[],"responses":{"200":{"description":"The description.","content":{"application/json\#
        ":{"schema":{"$ref":"#/components/schemas/Description"}}}},"429":{"$ref":"#/components/responses/RateLimited\#
        "}}}
        },
        "/v1/sessions":{
        "post":{"operationId":"createSession","summary":"Makes a session","security":[],"requestBody":{"required":tr\#
        ue,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Naming"}}}},"responses":{"201":{"de\#
        scription":"The session and its token. No other answer shows the token.","headers":{"Set-Cookie":{"$ref":"#/\#
        components/headers/SetCookie"}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/NewSes\#
        sion"}}}},"400":{"$ref":"#/components/responses/BadRequest"},"406":{"$ref":"#/components/responses/NotAccept\#
        able"},"413":{"$ref":"#/components/responses/TooLarge"},"415":{"$ref":"#/components/responses/UnsupportedMed\#
        iaType"},"429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"\#
        },"503":{"$ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/session":{
        "get":{"operationId":"getSession","summary":"Returns the session of the request","responses":{"200":{"$ref":\#
        "#/components/responses/Session"},"401":{"$ref":"#/components/responses/Unauthorized"},"406":{"$ref":"#/comp\#
        onents/responses/NotAcceptable"},"429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/compon\#
        ents/responses/Internal"},"503":{"$ref":"#/components/responses/Unavailable"}}},
        "patch":{"operationId":"renameSession","summary":"Renames the session","requestBody":{"required":true,"conte\#
        nt":{"application/json":{"schema":{"$ref":"#/components/schemas/Naming"}}}},"responses":{"200":{"$ref":"#/co\#
        mponents/responses/Session"},"400":{"$ref":"#/components/responses/BadRequest"},"401":{"$ref":"#/components/\#
        responses/Unauthorized"},"406":{"$ref":"#/components/responses/NotAcceptable"},"413":{"$ref":"#/components/r\#
        esponses/TooLarge"},"415":{"$ref":"#/components/responses/UnsupportedMediaType"},"429":{"$ref":"#/components\#
        /responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/respon\#
        ses/Unavailable"}}},
        "delete":{"operationId":"deleteSession","summary":"Ends the session, which leaves every \#
        room","responses":{"204":{"description":"The session has ended.","headers":{"Set-Cookie":{"$ref":"#/componen\#
        ts/headers/SetCookie"}}},"401":{"$ref":"#/components/responses/Unauthorized"},"406":{"$ref":"#/components/re\#
        sponses/NotAcceptable"},"429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/resp\#
        onses/Internal"},"503":{"$ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/session/rooms":{
        "get":{"operationId":"listSessionRooms","summary":"Lists the open rooms in which the session is a member, \#
        the one joined last first","description":"Public and unlisted rooms alike. Of a session with more than 200 \#
        rooms, those that were made last are listed.","responses":{"200":{"description":"The rooms, and the \#
        session's role in each.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/OwnList"}}}},\#
        "401":{"$ref":"#/components/responses/Unauthorized"},"406":{"$ref":"#/components/responses/NotAcceptable"},"\#
        429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"\#
        $ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/rooms":{
        "get":{"operationId":"listRooms","summary":"Lists the open public rooms, most listeners first","parameters":\#
        [{"$ref":"#/components/parameters/Text"},{"$ref":"#/components/parameters/Cursor"},{"name":"limit","in":"que\#
        ry","description":"The largest number of rooms in the answer. A value above 200 counts as 200.","schema":{"t\#
        ype":"integer","minimum":1,"maximum":9007199254740991,"default":50}}],"responses":{"200":{"description":"A \#
        page of the listing.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/RoomList"}}}},"4\#
        00":{"$ref":"#/components/responses/BadRequest"},"401":{"$ref":"#/components/responses/Unauthorized"},"406":\#
        {"$ref":"#/components/responses/NotAcceptable"},"429":{"$ref":"#/components/responses/RateLimited"},"500":{"\#
        $ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/responses/Unavailable"}}},
        "post":{"operationId":"createRoom","summary":"Makes a room with the caller as its owner","parameters":[{"$re\#
        f":"#/components/parameters/IdempotencyKey"}],"requestBody":{"required":true,"content":{"application/json":{\#
        "schema":{"$ref":"#/components/schemas/NewRoom"}}}},"responses":{"201":{"description":"The new room.","heade\#
        rs":{"Location":{"$ref":"#/components/headers/RoomLocation"}},"content":{"application/json":{"schema":{"$ref\#
        ":"#/components/schemas/RoomView"}}}},"200":{"description":"The room that an earlier request with the same \#
        key made, as it is now.","headers":{"Location":{"$ref":"#/components/headers/RoomLocation"}},"content":{"app\#
        lication/json":{"schema":{"$ref":"#/components/schemas/RoomView"}}}},"400":{"$ref":"#/components/responses/B\#
        adRequest"},"401":{"$ref":"#/components/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbi\#
        dden"},"406":{"$ref":"#/components/responses/NotAcceptable"},"409":{"$ref":"#/components/responses/Conflict"\#
        },"413":{"$ref":"#/components/responses/TooLarge"},"415":{"$ref":"#/components/responses/UnsupportedMediaTyp\#
        e"},"422":{"$ref":"#/components/responses/LimitReached"},"429":{"$ref":"#/components/responses/RateLimited"}\#
        ,"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/rooms/nearby":{
        "get":{"operationId":"listNearbyRooms","summary":"Lists the open public rooms near a point, nearest \#
        first","description":"Numbers are written as in JSON, and each parameter is given once. Any other request is\#
         answered 400, and the answer names the parameter. One limit counts the searches and the new nearby \#
        subscriptions of a session together.","parameters":[{"name":"lat","in":"query","description":"Degrees north.\#
        ","required":true,"schema":{"type":"number","minimum":-90,"maximum":90},"example":52.52},{"name":"lon","in":\#
        "query","description":"Degrees east.","required":true,"schema":{"type":"number","minimum":-180,"maximum":180\#
        },"example":13.405},{"name":"radiusMeters","in":"query","description":"Rooms farther away are left out.","sc\#
        hema":{"type":"number","minimum":1,"maximum":20037508,"default":5000},"example":1500},{"name":"limit","in":"\#
        query","description":"The largest number of rooms in the answer.","schema":{"type":"integer","minimum":1,"ma\#
        ximum":200,"default":50},"example":20}],"responses":{"200":{"description":"The rooms and their distances.","\#
        content":{"application/json":{"schema":{"$ref":"#/components/schemas/NearbyList"}}}},"400":{"$ref":"#/compon\#
        ents/responses/BadRequest"},"401":{"$ref":"#/components/responses/Unauthorized"},"406":{"$ref":"#/components\#
        /responses/NotAcceptable"},"429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/r\#
        esponses/Internal"},"503":{"$ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/rooms/{room}":{
        "parameters":[{"$ref":"#/components/parameters/Room"}],
        "get":{"operationId":"getRoom","summary":"Returns the room as it is now, or as it was after an earlier \#
        event","parameters":[{"name":"at","in":"query","description":"The room is shown as it was after the event \#
        with this number, from 1 to the room's \#
        last.","schema":{"type":"integer"}}],"responses":{"200":{"description":"The room.","content":{"application/j\#
        son":{"schema":{"$ref":"#/components/schemas/RoomView"}}}},"400":{"$ref":"#/components/responses/BadRequest"\#
        },"401":{"$ref":"#/components/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"40\#
        4":{"$ref":"#/components/responses/NotFound"},"406":{"$ref":"#/components/responses/NotAcceptable"},"429":{"\#
        $ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"\#
        #/components/responses/Unavailable"}}}
        },
        "/v1/rooms/{room}/events":{
        "parameters":[{"$ref":"#/components/parameters/Room"}],
        "get":{"operationId":"listEvents","summary":"Returns a part of the room's \#
        log","parameters":[{"name":"after","in":"query","description":"The part begins after the event with this num\#
        ber.","schema":{"type":"integer","minimum":0,"maximum":9007199254740991,"default":0}},{"name":"limit","in":"\#
        query","description":"The largest number of events in the answer. A value above 1,000 counts as 1,000. An \#
        answer also ends at 1 MiB. To read on, ask for the events after the last one, until its number is the seq of\#
         the answer.","schema":{"type":"integer","minimum":1,"maximum":9007199254740991,"default":1000}}],"responses\#
        ":{"200":{"description":"The events, in ascending order.","content":{"application/json":{"schema":{"$ref":"#\#
        /components/schemas/EventList"}}}},"400":{"$ref":"#/components/responses/BadRequest"},"401":{"$ref":"#/compo\#
        nents/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"404":{"$ref":"#/components\#
        /responses/NotFound"},"406":{"$ref":"#/components/responses/NotAcceptable"},"429":{"$ref":"#/components/resp\#
        onses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/responses/U\#
        navailable"}}}
        },
        "/v1/rooms/{room}/pool":{
        "parameters":[{"$ref":"#/components/parameters/Room"}],
        "get":{"operationId":"listPool","summary":"Returns a part of the room's pool","parameters":[{"$ref":"#/compo\#
        nents/parameters/Text"},{"$ref":"#/components/parameters/Cursor"},{"name":"sort","in":"query","description":\#
        "The value title gives the pool's order. The value votes gives most votes first, then the smallest \#
        requestedSeq; tracks without votes follow, by title. The value added gives the order of the track numbers.",\#
        "schema":{"type":"string","enum":["title","votes","added"],"default":"title"}},{"name":"limit","in":"query",\#
        "description":"The largest number of tracks in the answer. A value above 500 counts as 500. A page may have \#
        fewer tracks, or none, although there is a next page.","schema":{"type":"integer","minimum":1,"maximum":9007\#
        199254740991,"default":100}}],"responses":{"200":{"description":"A page of the pool.","content":{"applicatio\#
        n/json":{"schema":{"$ref":"#/components/schemas/PoolPage"}}}},"400":{"$ref":"#/components/responses/BadReque\#
        st"},"401":{"$ref":"#/components/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},\#
        "404":{"$ref":"#/components/responses/NotFound"},"406":{"$ref":"#/components/responses/NotAcceptable"},"429"\#
        :{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref\#
        ":"#/components/responses/Unavailable"}}}
        },
        "/v1/rooms/{room}/waveforms/{waveform}":{
        "parameters":[{"$ref":"#/components/parameters/Room"},{"name":"waveform","in":"path","required":true,"descri\#
        ption":"The name of a waveform, from a track of the pool or an \#
        event.","schema":{"$ref":"#/components/schemas/WaveformName"}}],
        "get":{"operationId":"getWaveform","summary":"Returns the bytes of a track's \#
        waveform","parameters":[{"name":"If-None-Match","in":"header","description":"The ETag of an answer that the \#
        client has. If it is the waveform's, the answer has no \#
        body.","schema":{"type":"string","maxLength":200}}],"responses":{"200":{"description":"The 2,048 bytes, \#
        which never change for this name.","headers":{"ETag":{"$ref":"#/components/headers/ETag"}},"content":{"appli\#
        cation/octet-stream":{"schema":{"type":"string","format":"binary"}}}},"304":{"description":"The client has \#
        the bytes already.","headers":{"ETag":{"$ref":"#/components/headers/ETag"}}},"401":{"$ref":"#/components/res\#
        ponses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"404":{"$ref":"#/components/response\#
        s/NotFound"},"429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/responses/Inter\#
        nal"},"503":{"$ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/rooms/{room}/commands":{
        "parameters":[{"$ref":"#/components/parameters/Room"}],
        "post":{"operationId":"sendCommand","summary":"Sends a command to the room","parameters":[{"$ref":"#/compone\#
        nts/parameters/IdempotencyKey"}],"requestBody":{"required":true,"content":{"application/json":{"schema":{"$r\#
        ef":"#/components/schemas/CommandBody"}}}},"responses":{"200":{"description":"The command was carried out, \#
        or what it asks for was already so.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/A\#
        cknowledgement"}}}},"400":{"$ref":"#/components/responses/BadRequest"},"401":{"$ref":"#/components/responses\#
        /Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"404":{"$ref":"#/components/responses/NotF\#
        ound"},"406":{"$ref":"#/components/responses/NotAcceptable"},"409":{"$ref":"#/components/responses/Conflict"\#
        },"410":{"$ref":"#/components/responses/RoomClosed"},"413":{"$ref":"#/components/responses/TooLarge"},"415":\#
        {"$ref":"#/components/responses/UnsupportedMediaType"},"422":{"$ref":"#/components/responses/LimitReached"},\#
        "429":{"$ref":"#/components/responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{\#
        "$ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/rooms/{room}/socket":{
        "parameters":[{"$ref":"#/components/parameters/Room"}],
        "get":{"operationId":"openRoomSocket","summary":"Opens a WebSocket that is subscribed to the room, from a \#
        position if the client has one","parameters":[{"name":"epoch","in":"query","description":"The epoch of the \#
        client's position; given together with \#
        seq.","schema":{"type":"string","minLength":1}},{"name":"seq","in":"query","description":"The last event \#
        that the client has; given together with epoch.","schema":{"type":"integer","minimum":0,"maximum":9007199254\#
        740991}}],"responses":{"101":{"$ref":"#/components/responses/Socket"},"400":{"$ref":"#/components/responses/\#
        BadRequest"},"401":{"$ref":"#/components/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forb\#
        idden"},"404":{"$ref":"#/components/responses/NotFound"},"406":{"$ref":"#/components/responses/NotAcceptable\#
        "},"426":{"$ref":"#/components/responses/UpgradeRequired"},"429":{"$ref":"#/components/responses/RateLimited\#
        "},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/responses/Unavailable"}}}
        },
        "/v1/socket":{
        "get":{"operationId":"openSocket","summary":"Opens a WebSocket without a subscription","responses":{"101":{"\#
        $ref":"#/components/responses/Socket"},"400":{"$ref":"#/components/responses/BadRequest"},"401":{"$ref":"#/c\#
        omponents/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"406":{"$ref":"#/compon\#
        ents/responses/NotAcceptable"},"426":{"$ref":"#/components/responses/UpgradeRequired"},"429":{"$ref":"#/comp\#
        onents/responses/RateLimited"},"500":{"$ref":"#/components/responses/Internal"},"503":{"$ref":"#/components/\#
        responses/Unavailable"}}}
        }
        },
        "components":{
        "securitySchemes":{
        "token":{"type":"http","scheme":"bearer","description":"A session's token. If the request has the cookie \#
        too, the token counts."},
        "cookie":{"type":"apiKey","in":"cookie","name":"__Host-backline_session"}
        },
        "parameters":{
        "Room":{"name":"room","in":"path","required":true,"description":"The room's id or its code. In a code, case \#
        does not matter, O is read as 0, and I and L as 1.","schema":{"type":"string","minLength":1}},
        "Text":{"name":"q","in":"query","description":"The text to find, in upper or lower case. A room matches if \#
        the text is a part of its name. A track matches if the text is a part of its title, artist or \#
        album.","schema":{"type":"string","maxLength":80}},
        "Cursor":{"name":"cursor","in":"query","description":"The value of next in the page \#
        before.","schema":{"$ref":"#/components/schemas/Cursor"}},
        "IdempotencyKey":{"name":"Idempotency-Key","in":"header","description":"A retry with the same key gets the \#
        first outcome. A key has no control characters.","schema":{"type":"string","minLength":1,"maxLength":128}}
        },
        "headers":{
        "SetCookie":{"description":"Sets the session's cookie, or deletes \#
        it.","required":true,"schema":{"type":"string","pattern":"^__Host-backline_session="}},
        "RoomLocation":{"description":"The room's \#
        path.","required":true,"schema":{"type":"string","pattern":"^/v1/rooms/"}},
        "ETag":{"description":"The waveform's name in quotation \#
        marks.","required":true,"schema":{"type":"string","pattern":"^\"[A-Za-z0-9_-]{22}\"$"}},
        "RetryAfter":{"description":"The time after which trying again may help, in \#
        seconds.","required":true,"schema":{"type":"integer","minimum":1}}
        },
        "responses":{
        "Session":{"description":"The session.","headers":{"Set-Cookie":{"description":"Sets the cookie again, if \#
        the request had the cookie and its session was extended.","schema":{"type":"string","pattern":"^__Host-backl\#
        ine_session="}}},"content":{"application/json":{"schema":{"$ref":"#/components/schemas/SessionView"}}}},
        "Socket":{"description":"The connection is a WebSocket (RFC 6455), with the subprotocol backline.v1.json if \#
        the client offered it."},
        "BadRequest":{"description":"A value is wrong.","content":{"application/problem+json":{"schema":{"$ref":"#/c\#
        omponents/schemas/Problem","properties":{"status":{"const":400},"code":{"const":"bad_request"}}}}}},
        "Unauthorized":{"description":"The request has no valid \#
        session.","headers":{"WWW-Authenticate":{"description":"The authentication scheme.","required":true,"schema"\#
        :{"const":"Bearer"}}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"\#
        ,"properties":{"status":{"const":401},"code":{"const":"unauthorized"}}}}}},
        "Forbidden":{"description":"The caller's role or the origin does not allow the request, or the session is \#
        banned.","headers":{"Retry-After":{"description":"The time after which the ban ends by itself, in seconds.",\#
        "schema":{"type":"integer","minimum":1}}},"content":{"application/problem+json":{"schema":{"$ref":"#/compone\#
        nts/schemas/Problem","properties":{"status":{"const":403},"code":{"enum":["forbidden","banned"]}}}}}},
        "NotFound":{"description":"The room does not exist, or something that the request names in it does not.","co\#
        ntent":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem","properties":{"status":{\#
        "const":404},"code":{"const":"not_found"}}}}}},
        "NotAcceptable":{"description":"The Accept header excludes JSON.","content":{"application/problem+json":{"sc\#
        hema":{"$ref":"#/components/schemas/Problem","properties":{"status":{"const":406},"code":{"const":"not_accep\#
        table"}}}}}},
        "Conflict":{"description":"The room's state does not allow the request, the caller is not a member, or the \#
        key was used for another request.","content":{"application/problem+json":{"schema":{"$ref":"#/components/sch\#
        emas/Problem","properties":{"status":{"const":409},"code":{"enum":["conflict","not_member"]}}}}}},
        "RoomClosed":{"description":"The room is closed, and the command is not closeRoom with forget. The owner of \#
        a closed room may still send that command.","content":{"application/problem+json":{"schema":{"$ref":"#/compo\#
        nents/schemas/Problem","properties":{"status":{"const":410},"code":{"const":"room_closed"}}}}}},
        "TooLarge":{"description":"The body is larger than 256 KiB, or than the limit that the operator has set.","c\#
        ontent":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem","properties":{"status":\#
        {"const":413},"code":{"const":"too_large"}}}}}},
        "UnsupportedMediaType":{"description":"The body is not application/json.","content":{"application/problem+js\#
        on":{"schema":{"$ref":"#/components/schemas/Problem","properties":{"status":{"const":415},"code":{"const":"u\#
        nsupported_media_type"}}}}}},
        "LimitReached":{"description":"The request would exceed a limit (Protocol.md, section 5). The limits are for\#
         the open rooms of a session, the tracks in the pool or in one command, the queue entries of one member or \#
        of all, the members, and the bans.","content":{"application/problem+json":{"schema":{"$ref":"#/components/sc\#
        hemas/Problem","properties":{"status":{"const":422},"code":{"const":"limit_reached"}}}}}},
        "UpgradeRequired":{"description":"The handshake has a version other than \#
        13.","headers":{"Sec-WebSocket-Version":{"description":"The version that the server supports.","required":tr\#
        ue,"schema":{"const":"13"}}},"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/P\#
        roblem","properties":{"status":{"const":426},"code":{"const":"bad_request"}}}}}},
        "RateLimited":{"description":"The address or the session has exceeded a rate limit.","headers":{"Retry-After\#
        ":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json":{"schema":{"$ref":"#/com\#
        ponents/schemas/Problem","required":["retryAfterMs"],"properties":{"status":{"const":429},"code":{"const":"r\#
        ate_limited"}}}}}},
        "Internal":{"description":"The server failed to carry out the request. Its log gives the reason.","content":\#
        {"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem","properties":{"status":{"const"\#
        :500},"code":{"const":"internal"}}}}}},
        "Unavailable":{"description":"The event log is out of reach, or the server is stopping. Nothing was changed.\#
        ","headers":{"Retry-After":{"$ref":"#/components/headers/RetryAfter"}},"content":{"application/problem+json"\#
        :{"schema":{"$ref":"#/components/schemas/Problem","required":["retryAfterMs"],"properties":{"status":{"const\#
        ":503},"code":{"const":"unavailable"}}}}}}
        },
        "schemas":{
        "Problem":{"description":"The details of an error (RFC 9457).","type":"object","required":["type","title","s\#
        tatus","code","detail"],"properties":{"type":{"const":"about:blank"},"title":{"type":"string"},"status":{"ty\#
        pe":"integer"},"code":{"enum":["bad_request","method_not_allowed","not_acceptable","unsupported_media_type",\#
        "unauthorized","forbidden","banned","not_found","not_member","conflict","room_closed","too_large","limit_rea\#
        ched","rate_limited","internal","unavailable"]},"detail":{"type":"string"},"retryAfterMs":{"type":"integer",\#
        "minimum":1}}},
        "Status":{"type":"object","required":["status"],"properties":{"status":{"enum":["ok","ready"]}}},
        "Description":{"type":"object","additionalProperties":true,"required":["openapi","info","paths","components"\#
        ],"properties":{"openapi":{"const":"3.1.0"}}},
        "Number":{"description":"A number that the room has \#
        assigned.","type":"integer","minimum":1,"maximum":9007199254740991},
        "Time":{"description":"Milliseconds since the Unix \#
        epoch.","type":"integer","minimum":-9007199254740991,"maximum":9007199254740991},
        "Count":{"type":"integer","minimum":0,"maximum":9007199254740991},
        "Milliseconds":{"type":"integer","minimum":0,"maximum":9007199254740991},
        "PersonName":{"description":"The name is trimmed and has at least one visible character. It has no invisible\#
         or reordering characters, except those that names need (Protocol.md, section 5, Names).","type":"string","m\#
        inLength":1,"maxLength":40,"pattern":"^[^\\u0000-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\\#
        u17B4\\u17B5\\u180E\\u200B\\u2028-\\u202E\\u2060-\\u206F\\u3164\\uFEFF\\uFFA0\\uFFF0-\\uFFFB]*$"},
        "RoomName":{"description":"The rules for the characters of a person's name apply.","type":"string","minLengt\#
        h":1,"maxLength":80,"pattern":"^[^\\u0000-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\\#
        u17B5\\u180E\\u200B\\u2028-\\u202E\\u2060-\\u206F\\u3164\\uFEFF\\uFFA0\\uFFF0-\\uFFFB]*$"},
        "Source":{"description":"The text is trimmed and has no control characters.","type":"string","minLength":1,"\#
        maxLength":40,"pattern":"^[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]*$"},
        "Title":{"description":"The text is trimmed and has no control characters.","type":"string","minLength":1,"m\#
        axLength":300,"pattern":"^[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]*$"},
        "WaveformName":{"description":"The first 16 bytes of the SHA-256 of a waveform's bytes, in \#
        base64url.","type":"string","pattern":"^[A-Za-z0-9_-]{21}[AQgw]$"},
        "ArtworkUrl":{"description":"An absolute http or https address with a host. The scheme is in upper or lower \#
        case.","type":"string","minLength":1,"maxLength":2048,"pattern":"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s\\\\][^\\s\#
        \\\\]*$"},
        "ShownPersonName":{"description":"Logs of earlier releases may hold any \#
        characters.","type":"string","minLength":1,"maxLength":40},
        "ShownRoomName":{"description":"Logs of earlier releases may hold any \#
        characters.","type":"string","minLength":1,"maxLength":80},
        "ShownArtworkUrl":{"description":"Logs of earlier releases may hold any \#
        address.","type":"string","minLength":1,"maxLength":2048},
        "Cursor":{"description":"An opaque value.","type":"string","minLength":1,"pattern":"^[0-9A-Za-z._-]+$"},
        "Coordinates":{"description":"WGS-84 degrees.","type":"object","required":["lat","lon"],"properties":{"lat":\#
        {"type":"number","minimum":-90,"maximum":90},"lon":{"type":"number","minimum":-180,"maximum":180}}},
        "Naming":{"type":"object","required":["name"],"properties":{"name":{"$ref":"#/components/schemas/PersonName"\#
        }}},
        "Session":{"type":"object","required":["id","name","createdAt","expiresAt"],"properties":{"id":{"type":"stri\#
        ng","format":"uuid"},"name":{"$ref":"#/components/schemas/ShownPersonName"},"createdAt":{"$ref":"#/component\#
        s/schemas/Time"},"expiresAt":{"$ref":"#/components/schemas/Time"}}},
        "SessionView":{"type":"object","required":["session"],"properties":{"session":{"$ref":"#/components/schemas/\#
        Session"}}},
        "NewSession":{"type":"object","required":["session","token"],"properties":{"session":{"$ref":"#/components/s\#
        chemas/Session"},"token":{"type":"string","pattern":"^bls_[A-Za-z0-9_-]{43}$"}}},
        "NewRoom":{"type":"object","required":["name"],"properties":{"name":{"$ref":"#/components/schemas/RoomName"}\#
        ,"location":{"$ref":"#/components/schemas/Coordinates"},"visibility":{"$ref":"#/components/schemas/Visibilit\#
        y"},"settings":{"$ref":"#/components/schemas/SettingsUpdate"}}},
        "Visibility":{"enum":["public","unlisted"]},
        "Role":{"enum":["owner","dj","guest"]},
        "Settings":{"type":"object","required":["queueMode","skipRatio","maxWaitingPerMember","repeatAfterPlays"],"p\#
        roperties":{"queueMode":{"enum":["dj","votes","fair"]},"skipRatio":{"type":"number","minimum":0,"maximum":1}\#
        ,"maxWaitingPerMember":{"type":"integer","minimum":0,"maximum":500},"repeatAfterPlays":{"type":"integer","mi\#
        nimum":0,"maximum":10000},"guestsMayAdd":{"type":"boolean"},"queueLocked":{"type":"boolean"},"slowModeMs":{"\#
        type":"integer","minimum":0,"maximum":3600000},"ownerAwayMs":{"type":"integer","minimum":0,"maximum":2592000\#
        000}}},
        "SettingsUpdate":{"description":"A setting that is left out keeps its value. An unknown name is answered \#
        400, and the answer names it.","type":"object","additionalProperties":false,"properties":{"queueMode":{"enum\#
        ":["dj","votes","fair"]},"skipRatio":{"type":"number","minimum":0,"maximum":1},"maxWaitingPerMember":{"type"\#
        :"integer","minimum":0,"maximum":500},"repeatAfterPlays":{"type":"integer","minimum":0,"maximum":10000},"gue\#
        stsMayAdd":{"type":"boolean"},"queueLocked":{"type":"boolean"},"slowModeMs":{"type":"integer","minimum":0,"m\#
        aximum":3600000},"ownerAwayMs":{"type":"integer","minimum":0,"maximum":2592000000}}},
        "RoomView":{"type":"object","required":["room"],"properties":{"room":{"$ref":"#/components/schemas/Snapshot"\#
        },"you":{"$ref":"#/components/schemas/You"}}},
        "Snapshot":{"type":"object","required":["epoch","seq","time","state"],"properties":{"epoch":{"type":"string"\#
        },"seq":{"$ref":"#/components/schemas/Number"},"keyed":{"description":"The number of commands with a key \#
        that the room has carried out. Absent while the event log is out of reach, and in a state of the past.","all\#
        Of":[{"$ref":"#/components/schemas/Count"}]},"time":{"$ref":"#/components/schemas/Time"},"state":{"$ref":"#/\#
        components/schemas/State"},"presence":{"type":"object","required":["online"],"properties":{"online":{"$ref":\#
        "#/components/schemas/Count"},"members":{"type":"array","items":{"$ref":"#/components/schemas/Number"}}}}}},
        "You":{"type":"object","required":["member","role","votes"],"properties":{"member":{"$ref":"#/components/sch\#
        emas/Number"},"role":{"$ref":"#/components/schemas/Role"},"votes":{"type":"array","items":{"$ref":"#/compone\#
        nts/schemas/Number"}}}},
        "State":{"type":"object","required":["id","code","name","createdAt","visibility","settings","members","pool"\#
        ,"requests","queue","playback","history"],"properties":{"id":{"type":"string","format":"uuid"},"code":{"$ref\#
        ":"#/components/schemas/Code"},"name":{"$ref":"#/components/schemas/ShownRoomName"},"createdAt":{"$ref":"#/c\#
        omponents/schemas/Time"},"closedAt":{"$ref":"#/components/schemas/Time"},"visibility":{"$ref":"#/components/\#
        schemas/Visibility"},"location":{"$ref":"#/components/schemas/Coordinates"},"settings":{"$ref":"#/components\#
        /schemas/Settings"},"members":{"type":"array","items":{"$ref":"#/components/schemas/Member"}},"pool":{"type"\#
        :"array","items":{"$ref":"#/components/schemas/Track"}},"requests":{"type":"array","items":{"$ref":"#/compon\#
        ents/schemas/Number"}},"queue":{"type":"array","items":{"$ref":"#/components/schemas/QueueEntry"}},"playback\#
        ":{"oneOf":[{"$ref":"#/components/schemas/Silence"},{"$ref":"#/components/schemas/OnAir"}]},"history":{"type\#
        ":"array","maxItems":50,"items":{"$ref":"#/components/schemas/HistoryEntry"}}}},
        "Code":{"type":"string","description":"A room that is made unlisted gets eight characters, any other gets \#
        six. The code does not change with the \#
        visibility.","pattern":"^([0-9A-HJKMNP-TV-Z]{6}|[0-9A-HJKMNP-TV-Z]{8})$"},
        "Member":{"type":"object","required":["member","name","role","joinedAt"],"properties":{"member":{"$ref":"#/c\#
        omponents/schemas/Number"},"name":{"$ref":"#/components/schemas/ShownPersonName"},"role":{"$ref":"#/componen\#
        ts/schemas/Role"},"joinedAt":{"$ref":"#/components/schemas/Time"}}},
        "NewTrack":{"type":"object","required":["source","sourceId","title"],"properties":{"source":{"$ref":"#/compo\#
        nents/schemas/Source"},"sourceId":{"$ref":"#/components/schemas/Title"},"title":{"$ref":"#/components/schema\#
        s/Title"},"artist":{"$ref":"#/components/schemas/Title"},"album":{"$ref":"#/components/schemas/Title"},"dura\#
        tionMs":{"type":"integer","minimum":0,"maximum":604800000},"artworkUrl":{"$ref":"#/components/schemas/Artwor\#
        kUrl"}}},
        "Track":{"type":"object","required":["track","source","sourceId","title","addedBy","votes"],"properties":{"t\#
        rack":{"$ref":"#/components/schemas/Number"},"source":{"$ref":"#/components/schemas/Source"},"sourceId":{"$r\#
        ef":"#/components/schemas/Title"},"title":{"$ref":"#/components/schemas/Title"},"artist":{"$ref":"#/componen\#
        ts/schemas/Title"},"album":{"$ref":"#/components/schemas/Title"},"durationMs":{"type":"integer","minimum":0,\#
        "maximum":604800000},"artworkUrl":{"$ref":"#/components/schemas/ShownArtworkUrl"},"addedBy":{"$ref":"#/compo\#
        nents/schemas/Number"},"votes":{"$ref":"#/components/schemas/Count"},"requestedSeq":{"$ref":"#/components/sc\#
        hemas/Number"},"waveform":{"$ref":"#/components/schemas/WaveformName"}}},
        "QueueEntry":{"type":"object","required":["entry","track"],"properties":{"entry":{"$ref":"#/components/schem\#
        as/Number"},"track":{"$ref":"#/components/schemas/Number"},"addedBy":{"$ref":"#/components/schemas/Number"}}\#
        },
        "Silence":{"type":"object","required":["status"],"properties":{"status":{"const":"stopped"}}},
        "OnAir":{"type":"object","required":["status","entry","track","startedAt","startedSeq","positionMs","atMs","\#
        skipVotes"],"properties":{"status":{"enum":["playing","paused"]},"entry":{"$ref":"#/components/schemas/Numbe\#
        r"},"track":{"$ref":"#/components/schemas/Number"},"startedBy":{"$ref":"#/components/schemas/Number"},"start\#
        edAt":{"$ref":"#/components/schemas/Time"},"startedSeq":{"$ref":"#/components/schemas/Number"},"positionMs":\#
        {"$ref":"#/components/schemas/Milliseconds"},"atMs":{"$ref":"#/components/schemas/Time"},"skipVotes":{"$ref"\#
        :"#/components/schemas/Count"}}},
        "HistoryEntry":{"type":"object","required":["entry","track","title","startedAt","endedAt","reason","playedMs\#
        "],"properties":{"entry":{"$ref":"#/components/schemas/Number"},"track":{"$ref":"#/components/schemas/Number\#
        "},"title":{"$ref":"#/components/schemas/Title"},"artist":{"$ref":"#/components/schemas/Title"},"startedAt":\#
        {"$ref":"#/components/schemas/Time"},"endedAt":{"$ref":"#/components/schemas/Time"},"reason":{"enum":["ended\#
        ","skipped","replaced"]},"playedMs":{"$ref":"#/components/schemas/Milliseconds"}}},
        "RoomList":{"type":"object","required":["rooms"],"properties":{"rooms":{"type":"array","items":{"$ref":"#/co\#
        mponents/schemas/RoomSummary"}},"next":{"$ref":"#/components/schemas/Cursor"}}},
        "NearbyList":{"type":"object","required":["rooms"],"properties":{"rooms":{"type":"array","maxItems":200,"ite\#
        ms":{"$ref":"#/components/schemas/RoomSummary","required":["location","distanceMeters"]}}}},
        "OwnList":{"type":"object","required":["rooms"],"properties":{"rooms":{"type":"array","maxItems":200,"items"\#
        :{"$ref":"#/components/schemas/RoomSummary","required":["role"]}}}},
        "RoomSummary":{"type":"object","required":["id","code","name","listeners","createdAt"],"properties":{"id":{"\#
        type":"string","format":"uuid"},"code":{"$ref":"#/components/schemas/Code"},"name":{"$ref":"#/components/sch\#
        emas/ShownRoomName"},"location":{"$ref":"#/components/schemas/Coordinates"},"listeners":{"$ref":"#/component\#
        s/schemas/Count"},"djName":{"$ref":"#/components/schemas/ShownPersonName"},"nowPlaying":{"type":"object","re\#
        quired":["title"],"properties":{"title":{"$ref":"#/components/schemas/Title"},"artist":{"$ref":"#/components\#
        /schemas/Title"}}},"createdAt":{"$ref":"#/components/schemas/Time"},"distanceMeters":{"type":"number","minim\#
        um":0,"maximum":20037508},"role":{"$ref":"#/components/schemas/Role"}}},
        "PoolPage":{"type":"object","required":["epoch","seq","tracks"],"properties":{"epoch":{"type":"string"},"seq\#
        ":{"$ref":"#/components/schemas/Number"},"tracks":{"type":"array","maxItems":500,"items":{"$ref":"#/componen\#
        ts/schemas/Track"}},"next":{"$ref":"#/components/schemas/Cursor"}}},
        "EventList":{"type":"object","required":["epoch","events","seq"],"properties":{"epoch":{"type":"string"},"ev\#
        ents":{"type":"array","maxItems":1000,"items":{"$ref":"#/components/schemas/Event"}},"seq":{"$ref":"#/compon\#
        ents/schemas/Number"}}},
        "Event":{"description":"A change of the room (Protocol.md, section 5).","oneOf":[{"$ref":"#/components/schem\#
        as/RoomCreated"},{"$ref":"#/components/schemas/RoomUpdated"},{"$ref":"#/components/schemas/RoomClosed"},{"$r\#
        ef":"#/components/schemas/MemberJoined"},{"$ref":"#/components/schemas/MemberLeft"},{"$ref":"#/components/sc\#
        hemas/MemberRenamed"},{"$ref":"#/components/schemas/RoleChanged"},{"$ref":"#/components/schemas/MemberBanned\#
        "},{"$ref":"#/components/schemas/MemberUnbanned"},{"$ref":"#/components/schemas/TracksAdded"},{"$ref":"#/com\#
        ponents/schemas/TracksRemoved"},{"$ref":"#/components/schemas/WaveformSet"},{"$ref":"#/components/schemas/Vo\#
        teCast"},{"$ref":"#/components/schemas/VoteWithdrawn"},{"$ref":"#/components/schemas/VotesCleared"},{"$ref":\#
        "#/components/schemas/SkipVoteCast"},{"$ref":"#/components/schemas/EntryEnqueued"},{"$ref":"#/components/sch\#
        emas/EntryRemoved"},{"$ref":"#/components/schemas/EntryMoved"},{"$ref":"#/components/schemas/PlaybackStarted\#
        "},{"$ref":"#/components/schemas/PlaybackPaused"},{"$ref":"#/components/schemas/PlaybackResumed"},{"$ref":"#\#
        /components/schemas/PlaybackSeeked"},{"$ref":"#/components/schemas/PlaybackStopped"},{"$ref":"#/components/s\#
        chemas/EntryFinished"}]},
        "RoomCreated":{"type":"object","required":["seq","at","type","id","code","name","visibility","settings"],"pr\#
        operties":{"seq":{"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"c\#
        onst":"roomCreated"},"id":{"type":"string","format":"uuid"},"code":{"$ref":"#/components/schemas/Code"},"nam\#
        e":{"$ref":"#/components/schemas/ShownRoomName"},"visibility":{"$ref":"#/components/schemas/Visibility"},"se\#
        ttings":{"$ref":"#/components/schemas/Settings"},"location":{"$ref":"#/components/schemas/Coordinates"}}},
        "RoomUpdated":{"type":"object","required":["seq","at","type"],"properties":{"seq":{"$ref":"#/components/sche\#
        mas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"roomUpdated"},"name":{"$ref":"#/comp\#
        onents/schemas/ShownRoomName"},"location":{"$ref":"#/components/schemas/Coordinates"},"locationCleared":{"co\#
        nst":true},"visibility":{"$ref":"#/components/schemas/Visibility"},"settings":{"$ref":"#/components/schemas/\#
        Settings"},"by":{"$ref":"#/components/schemas/Number"},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "RoomClosed":{"type":"object","required":["seq","at","type"],"properties":{"seq":{"$ref":"#/components/schem\#
        as/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"roomClosed"},"forget":{"const":true},\#
        "by":{"$ref":"#/components/schemas/Number"},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "MemberJoined":{"type":"object","required":["seq","at","type","member","name","role"],"properties":{"seq":{"\#
        $ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"memberJoined\#
        "},"member":{"$ref":"#/components/schemas/Number"},"name":{"$ref":"#/components/schemas/ShownPersonName"},"r\#
        ole":{"$ref":"#/components/schemas/Role"}}},
        "MemberLeft":{"type":"object","required":["seq","at","type","member","reason"],"properties":{"seq":{"$ref":"\#
        #/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"memberLeft"},"membe\#
        r":{"$ref":"#/components/schemas/Number"},"reason":{"enum":["left","expired","kicked","banned","session_ende\#
        d"]},"by":{"$ref":"#/components/schemas/Number"},"note":{"$ref":"#/components/schemas/Reason"},"votes":{"typ\#
        e":"array","items":{"$ref":"#/components/schemas/Withdrawal"}},"skipVotes":{"$ref":"#/components/schemas/Cou\#
        nt"}}},
        "MemberRenamed":{"type":"object","required":["seq","at","type","member","name"],"properties":{"seq":{"$ref":\#
        "#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"memberRenamed"},"m\#
        ember":{"$ref":"#/components/schemas/Number"},"name":{"$ref":"#/components/schemas/ShownPersonName"}}},
        "RoleChanged":{"type":"object","required":["seq","at","type","member","role"],"properties":{"seq":{"$ref":"#\#
        /components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"roleChanged"},"membe\#
        r":{"$ref":"#/components/schemas/Number"},"role":{"$ref":"#/components/schemas/Role"},"by":{"$ref":"#/compon\#
        ents/schemas/Number"},"reason":{"type":"string","description":"If by is absent, the reason is ownerLeft or \#
        ownerAway."}}},
        "MemberBanned":{"type":"object","required":["seq","at","type","member"],"properties":{"seq":{"$ref":"#/compo\#
        nents/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"memberBanned"},"member":{"\#
        $ref":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"role":{"const":"dj","descr\#
        iption":"Present if the member was a \#
        DJ."},"until":{"$ref":"#/components/schemas/Time"},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "MemberUnbanned":{"type":"object","required":["seq","at","type","member"],"properties":{"seq":{"$ref":"#/com\#
        ponents/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"memberUnbanned"},"member\#
        ":{"$ref":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"reason":{"$ref":"#/com\#
        ponents/schemas/Reason"}}},
        "TracksAdded":{"type":"object","required":["seq","at","type","tracks","by"],"properties":{"seq":{"$ref":"#/c\#
        omponents/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"tracksAdded"},"tracks"\#
        :{"type":"array","items":{"$ref":"#/components/schemas/NumberedTrack"}},"by":{"$ref":"#/components/schemas/N\#
        umber"}}},
        "TracksRemoved":{"type":"object","required":["seq","at","type","tracks","by"],"properties":{"seq":{"$ref":"#\#
        /components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"tracksRemoved"},"tra\#
        cks":{"type":"array","items":{"$ref":"#/components/schemas/Number"}},"by":{"$ref":"#/components/schemas/Numb\#
        er"}}},
        "WaveformSet":{"type":"object","required":["seq","at","type","track","waveform","by"],"properties":{"seq":{"\#
        $ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"waveformSet"\#
        },"track":{"$ref":"#/components/schemas/Number"},"waveform":{"$ref":"#/components/schemas/WaveformName"},"by\#
        ":{"$ref":"#/components/schemas/Number"}}},
        "VoteCast":{"type":"object","required":["seq","at","type","track","by","votes","requestedSeq"],"properties":\#
        {"seq":{"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"vot\#
        eCast"},"track":{"$ref":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"votes":{\#
        "$ref":"#/components/schemas/Count"},"requestedSeq":{"$ref":"#/components/schemas/Number"}}},
        "VoteWithdrawn":{"type":"object","required":["seq","at","type","track","by","votes"],"properties":{"seq":{"$\#
        ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"voteWithdrawn\#
        "},"track":{"$ref":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"votes":{"$ref\#
        ":"#/components/schemas/Count"},"requestedSeq":{"$ref":"#/components/schemas/Number"}}},
        "VotesCleared":{"type":"object","required":["seq","at","type","track"],"properties":{"seq":{"$ref":"#/compon\#
        ents/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"votesCleared"},"track":{"$r\#
        ef":"#/components/schemas/Number"}}},
        "SkipVoteCast":{"type":"object","required":["seq","at","type","entry","by","skipVotes"],"properties":{"seq":\#
        {"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"skipVoteCa\#
        st"},"entry":{"$ref":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"skipVotes":\#
        {"$ref":"#/components/schemas/Count"}}},
        "EntryEnqueued":{"type":"object","required":["seq","at","type","entry","track","index"],"properties":{"seq":\#
        {"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"entryEnque\#
        ued"},"entry":{"$ref":"#/components/schemas/Number"},"track":{"$ref":"#/components/schemas/Number"},"index":\#
        {"$ref":"#/components/schemas/Count"},"by":{"$ref":"#/components/schemas/Number"},"why":{"$ref":"#/component\#
        s/schemas/Why"}}},
        "EntryRemoved":{"type":"object","required":["seq","at","type","entry"],"properties":{"seq":{"$ref":"#/compon\#
        ents/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"entryRemoved"},"entry":{"$r\#
        ef":"#/components/schemas/Number"},"by":{"$ref":"#/components/schemas/Number"},"why":{"$ref":"#/components/s\#
        chemas/Why"}}},
        "EntryMoved":{"type":"object","required":["seq","at","type","entry","index"],"properties":{"seq":{"$ref":"#/\#
        components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"entryMoved"},"entry":\#
        {"$ref":"#/components/schemas/Number"},"index":{"$ref":"#/components/schemas/Count"},"by":{"$ref":"#/compone\#
        nts/schemas/Number"}}},
        "PlaybackStarted":{"type":"object","required":["seq","at","type","entry","track","positionMs","atMs"],"prope\#
        rties":{"seq":{"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"cons\#
        t":"playbackStarted"},"entry":{"$ref":"#/components/schemas/Number"},"track":{"$ref":"#/components/schemas/N\#
        umber"},"startedAt":{"$ref":"#/components/schemas/Time"},"positionMs":{"$ref":"#/components/schemas/Millisec\#
        onds"},"atMs":{"$ref":"#/components/schemas/Time"},"playedMs":{"$ref":"#/components/schemas/Milliseconds"},"\#
        by":{"$ref":"#/components/schemas/Number"}}},
        "PlaybackPaused":{"type":"object","required":["seq","at","type","positionMs","atMs"],"properties":{"seq":{"$\#
        ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"playbackPause\#
        d"},"positionMs":{"$ref":"#/components/schemas/Milliseconds"},"atMs":{"$ref":"#/components/schemas/Time"},"p\#
        layedMs":{"$ref":"#/components/schemas/Milliseconds"},"by":{"$ref":"#/components/schemas/Number"}}},
        "PlaybackResumed":{"type":"object","required":["seq","at","type","positionMs","atMs"],"properties":{"seq":{"\#
        $ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"playbackResu\#
        med"},"positionMs":{"$ref":"#/components/schemas/Milliseconds"},"atMs":{"$ref":"#/components/schemas/Time"},\#
        "playedMs":{"$ref":"#/components/schemas/Milliseconds"},"by":{"$ref":"#/components/schemas/Number"}}},
        "PlaybackSeeked":{"type":"object","required":["seq","at","type","positionMs","atMs"],"properties":{"seq":{"$\#
        ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"playbackSeeke\#
        d"},"positionMs":{"$ref":"#/components/schemas/Milliseconds"},"atMs":{"$ref":"#/components/schemas/Time"},"p\#
        layedMs":{"$ref":"#/components/schemas/Milliseconds"},"by":{"$ref":"#/components/schemas/Number"}}},
        "PlaybackStopped":{"type":"object","required":["seq","at","type"],"properties":{"seq":{"$ref":"#/components/\#
        schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"type":{"const":"playbackStopped"},"by":{"$ref":"\#
        #/components/schemas/Number"}}},
        "EntryFinished":{"type":"object","required":["seq","at","type","entry","track","reason","startedAt","playedM\#
        s"],"properties":{"seq":{"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Time"},"ty\#
        pe":{"const":"entryFinished"},"entry":{"$ref":"#/components/schemas/Number"},"track":{"$ref":"#/components/s\#
        chemas/Number"},"reason":{"enum":["ended","skipped","replaced"]},"missing":{"const":true},"startedAt":{"$ref\#
        ":"#/components/schemas/Time"},"endedAt":{"$ref":"#/components/schemas/Time"},"playedMs":{"$ref":"#/componen\#
        ts/schemas/Milliseconds"},"by":{"$ref":"#/components/schemas/Number"}}},
        "Withdrawal":{"description":"The votes of a track after one of its voters has left.","type":"object","requir\#
        ed":["track","votes"],"properties":{"track":{"$ref":"#/components/schemas/Number"},"votes":{"$ref":"#/compon\#
        ents/schemas/Count"},"requestedSeq":{"$ref":"#/components/schemas/Number"}}},
        "Why":{"description":"The numbers by which the room chose.","type":"object","required":["rule","rank"],"prop\#
        erties":{"rule":{"enum":["votes","fair","repeatAfterPlays"]},"rank":{"type":"array","items":{"type":"integer\#
        "}},"turnOf":{"$ref":"#/components/schemas/Number"}}},
        "NumberedTrack":{"type":"object","required":["track","source","sourceId","title"],"properties":{"track":{"$r\#
        ef":"#/components/schemas/Number"},"source":{"$ref":"#/components/schemas/Source"},"sourceId":{"$ref":"#/com\#
        ponents/schemas/Title"},"title":{"$ref":"#/components/schemas/Title"},"artist":{"$ref":"#/components/schemas\#
        /Title"},"album":{"$ref":"#/components/schemas/Title"},"durationMs":{"type":"integer","minimum":0,"maximum":\#
        604800000},"artworkUrl":{"$ref":"#/components/schemas/ShownArtworkUrl"}}},
        "Acknowledgement":{"type":"object","required":["seq","keyed"],"properties":{"seq":{"$ref":"#/components/sche\#
        mas/Number"},"keyed":{"description":"The number of commands with a key that the room had carried out when it\#
         carried out this one, itself \#
        included.","allOf":[{"$ref":"#/components/schemas/Count"}]},"result":{"description":"The command join \#
        returns the member, addTracks the tracks, enqueue the entry, and setWaveform the waveform's name.","oneOf":[\#
        {"type":"object","required":["member"],"properties":{"member":{"$ref":"#/components/schemas/Number"}}},{"typ\#
        e":"object","required":["tracks"],"properties":{"tracks":{"type":"array","items":{"$ref":"#/components/schem\#
        as/Number"}}}},{"type":"object","required":["entry"],"properties":{"entry":{"$ref":"#/components/schemas/Num\#
        ber"}}},{"type":"object","required":["waveform"],"properties":{"waveform":{"$ref":"#/components/schemas/Wave\#
        formName"}}}]}}},
        "CommandBody":{"type":"object","required":["command"],"properties":{"command":{"$ref":"#/components/schemas/\#
        Command"}}},
        "Command":{"description":"Protocol.md, section 5, gives the callers and the events of each command.","oneOf"\#
        :[{"$ref":"#/components/schemas/BareCommand"},{"$ref":"#/components/schemas/JoinCommand"},{"$ref":"#/compone\#
        nts/schemas/RenameCommand"},{"$ref":"#/components/schemas/UpdateRoomCommand"},{"$ref":"#/components/schemas/\#
        CloseRoomCommand"},{"$ref":"#/components/schemas/MemberCommand"},{"$ref":"#/components/schemas/SetRoleComman\#
        d"},{"$ref":"#/components/schemas/KickCommand"},{"$ref":"#/components/schemas/AddTracksCommand"},{"$ref":"#/\#
        components/schemas/RemoveTracksCommand"},{"$ref":"#/components/schemas/SetWaveformCommand"},{"$ref":"#/compo\#
        nents/schemas/TrackCommand"},{"$ref":"#/components/schemas/EnqueueCommand"},{"$ref":"#/components/schemas/En\#
        tryCommand"},{"$ref":"#/components/schemas/FinishCommand"},{"$ref":"#/components/schemas/MoveCommand"},{"$re\#
        f":"#/components/schemas/PlayCommand"},{"$ref":"#/components/schemas/SeekCommand"},{"$ref":"#/components/sch\#
        emas/SyncDeckCommand"}]},
        "BareCommand":{"type":"object","required":["type"],"properties":{"type":{"enum":["leave","pause","resume","s\#
        kip"]}}},
        "JoinCommand":{"type":"object","required":["type"],"properties":{"type":{"const":"join"},"name":{"$ref":"#/c\#
        omponents/schemas/PersonName","description":"If the name is left out, the session's name applies."}}},
        "RenameCommand":{"type":"object","required":["type","name"],"properties":{"type":{"const":"rename"},"name":{\#
        "$ref":"#/components/schemas/PersonName"}}},
        "UpdateRoomCommand":{"type":"object","required":["type"],"properties":{"type":{"const":"updateRoom"},"name":\#
        {"$ref":"#/components/schemas/RoomName"},"location":{"$ref":"#/components/schemas/Coordinates"},"clearLocati\#
        on":{"type":"boolean"},"visibility":{"$ref":"#/components/schemas/Visibility"},"settings":{"$ref":"#/compone\#
        nts/schemas/SettingsUpdate"},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "CloseRoomCommand":{"type":"object","required":["type"],"properties":{"type":{"const":"closeRoom"},"forget":\#
        {"type":"boolean"},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "MemberCommand":{"type":"object","required":["type","member"],"properties":{"type":{"enum":["transferOwnersh\#
        ip","unban"]},"member":{"$ref":"#/components/schemas/Number"},"reason":{"$ref":"#/components/schemas/Reason"\#
        }}},
        "SetRoleCommand":{"type":"object","required":["type","member","role"],"properties":{"type":{"const":"setRole\#
        "},"member":{"$ref":"#/components/schemas/Number"},"role":{"enum":["dj","guest"]},"reason":{"$ref":"#/compon\#
        ents/schemas/Reason"}}},
        "KickCommand":{"type":"object","required":["type"],"oneOf":[{"required":["member"]},{"required":["members"]}\#
        ],"properties":{"type":{"const":"kick"},"member":{"$ref":"#/components/schemas/Number"},"members":{"type":"a\#
        rray","minItems":1,"maxItems":500,"uniqueItems":true,"items":{"$ref":"#/components/schemas/Number"},"descrip\#
        tion":"The command kicks all of these members, or none."},"ban":{"type":"boolean"},"durationMs":{"type":"int\#
        eger","minimum":1,"maximum":31536000000,"description":"The time after which the ban ends by itself. It is \#
        allowed only with ban."},"reason":{"$ref":"#/components/schemas/Reason"}}},
        "Reason":{"description":"The text is trimmed and has no control characters.","type":"string","minLength":1,"\#
        maxLength":200,"pattern":"^[^\\u0000-\\u001F\\u007F-\\u009F\\u2028\\u2029]*$"},
        "AddTracksCommand":{"type":"object","required":["type","tracks"],"properties":{"type":{"const":"addTracks"},\#
        "tracks":{"type":"array","minItems":1,"maxItems":500,"items":{"$ref":"#/components/schemas/NewTrack"}}}},
        "RemoveTracksCommand":{"type":"object","required":["type","tracks"],"properties":{"type":{"const":"removeTra\#
        cks"},"tracks":{"type":"array","minItems":1,"maxItems":500,"items":{"$ref":"#/components/schemas/Number"}}}}\#
        ,
        "SetWaveformCommand":{"type":"object","required":["type","track","data"],"properties":{"type":{"const":"setW\#
        aveform"},"track":{"$ref":"#/components/schemas/Number"},"data":{"description":"2,048 bytes in base64url \#
        without padding; 1,024 peaks, then 1,024 RMS values.","type":"string","minLength":2731,"maxLength":2731,"pat\#
        tern":"^[A-Za-z0-9_-]{2730}[AEIMQUYcgkosw048]$"}}},
        "TrackCommand":{"type":"object","required":["type","track"],"properties":{"type":{"enum":["vote","unvote"]},\#
        "track":{"$ref":"#/components/schemas/Number"}}},
        "EnqueueCommand":{"type":"object","required":["type","track"],"properties":{"type":{"const":"enqueue"},"trac\#
        k":{"$ref":"#/components/schemas/Number"},"at":{"$ref":"#/components/schemas/Count"}}},
        "EntryCommand":{"type":"object","required":["type","entry"],"properties":{"type":{"enum":["dequeue","voteSki\#
        p"]},"entry":{"$ref":"#/components/schemas/Number"}}},
        "FinishCommand":{"type":"object","required":["type","entry"],"properties":{"type":{"const":"finish"},"entry"\#
        :{"$ref":"#/components/schemas/Number"},"missing":{"type":"boolean"}}},
        "MoveCommand":{"type":"object","required":["type","entry","to"],"properties":{"type":{"const":"move"},"entry\#
        ":{"$ref":"#/components/schemas/Number"},"to":{"$ref":"#/components/schemas/Count"}}},
        "PlayCommand":{"type":"object","required":["type"],"properties":{"type":{"const":"play"},"entry":{"$ref":"#/\#
        components/schemas/Number"}}},
        "SeekCommand":{"type":"object","required":["type","positionMs"],"properties":{"type":{"const":"seek"},"posit\#
        ionMs":{"type":"integer","minimum":0,"maximum":604800000}}},
        "SyncDeckCommand":{"type":"object","required":["type","queue","playback"],"properties":{"type":{"const":"syn\#
        cDeck"},"played":{"type":"array","maxItems":200,"items":{"$ref":"#/components/schemas/PlayedItem"}},"queue":\#
        {"type":"array","maxItems":500,"items":{"$ref":"#/components/schemas/DeckItem"}},"known":{"type":"integer","\#
        minimum":0,"maximum":9007199254740991,"description":"The greatest number of an entry that the device knows. \#
        Waiting entries with greater ones stay."},"playback":{"oneOf":[{"$ref":"#/components/schemas/Silence"},{"typ\#
        e":"object","required":["status","positionMs","atMs"],"properties":{"status":{"enum":["playing","paused"]},"\#
        track":{"$ref":"#/components/schemas/Number"},"entry":{"$ref":"#/components/schemas/Number"},"positionMs":{"\#
        type":"integer","minimum":0,"maximum":604800000},"atMs":{"$ref":"#/components/schemas/Time"},"startedAtMs":{\#
        "$ref":"#/components/schemas/Time"},"playedMs":{"$ref":"#/components/schemas/Milliseconds"}},"oneOf":[{"requ\#
        ired":["track"]},{"required":["entry"]}]}]}}},
        "PlayedItem":{"description":"A song that the device has played and ended.","type":"object","required":["star\#
        tedAtMs","playedMs","reason"],"properties":{"track":{"$ref":"#/components/schemas/Number"},"entry":{"$ref":"\#
        #/components/schemas/Number"},"startedAtMs":{"$ref":"#/components/schemas/Time"},"playedMs":{"$ref":"#/compo\#
        nents/schemas/Milliseconds"},"reason":{"enum":["ended","skipped"]},"endedAtMs":{"$ref":"#/components/schemas\#
        /Time"}},"oneOf":[{"required":["track"]},{"required":["entry"]}]},
        "DeckItem":{"type":"object","properties":{"track":{"$ref":"#/components/schemas/Number"},"entry":{"$ref":"#/\#
        components/schemas/Number"}},"oneOf":[{"required":["track"]},{"required":["entry"]}]}
        }
        }
        }
        """#
}
